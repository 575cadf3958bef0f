import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createStdioBackend, type StdioBackendOptions } from '../../../src/gateway/backends/stdio.ts';
import { createConversations } from '../../../src/mcp/conversations/index.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { openTalk } from '../../mcp/conversations/support/talk.ts';

const program = fileURLToPath(new URL('../../support/backend/server.ts', import.meta.url));

function start(args: readonly string[], options: Partial<StdioBackendOptions> = {}) {
  const log: string[] = [];
  const logger = createLogger('debug', (line) => log.push(line));
  const command = process.execPath;
  const backend = createStdioBackend('Notes', { command, args: [program, ...args], ...options }, { logger });
  const conversations = createConversations({ source: backend.source, logger });
  onTestFinished(async () => {
    await conversations.close();
    await backend.close();
  });
  return { backend, conversations, log };
}

describe('a program as an MCP server', () => {
  it('that never answers initialize is an error in time, and ends (T-155)', async () => {
    const { backend, conversations, log } = start(['mute'], { startMs: 300 });
    const initialize = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    };
    const opening = await conversations.open(
      initialize,
      {},
      { hear: () => undefined, ended: () => undefined },
    );
    expect(opening).toMatchObject({ error: { data: { reason: 'backend_start_timed_out' } } });
    expect(backend.status()).toMatchObject({
      state: 'failing',
      processes: 0,
      failures: { count: 1, last: { reason: 'backend_start_timed_out' } },
    });
    expect(log.join('')).toContain('did not answer initialize in time');
  });

  it('that writes too long a line is an error for the call, and goes on (T-156)', async () => {
    const { conversations } = start(['sound'], { maxLineBytes: 1_000_000 });
    const talk = await openTalk(conversations);
    const answer = await talk.ask('tools/call', { name: 'garbage', arguments: { kind: 'long' } });
    expect(answer).toMatchObject({ error: { data: { reason: 'backend_answer_too_large' } } });
    expect(await talk.ask('tools/call', { name: 'echo', arguments: { text: 'still here' } })).toHaveProperty(
      'result',
    );
  });

  it('that reads nothing is an error, and what it is sent is not kept without end (T-156)', async () => {
    const { conversations } = start(['deaf'], { maxLineBytes: 500_000 });
    const talk = await openTalk(conversations);
    const text = 'x'.repeat(400_000);
    const params = { name: 'echo', arguments: { text } };
    for (const id of ['a', 'b', 'c']) talk.say({ id, method: 'tools/call', params });
    expect(await talk.ask('tools/call', params)).toMatchObject({
      error: { data: { reason: 'backend_not_reading' } },
    });
  });
});
