import { describe, expect, it, onTestFinished } from 'vitest';
import { createStdioBackend, type StdioBackendOptions } from '../../../src/gateway/backends/stdio.ts';
import { callerFor } from '../../../src/gateway/modern/own-caller.ts';
import { createConversations } from '../../../src/mcp/sdk/conversations.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createCaller } from '../../mcp/support/modern-calls.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { callerOf, open, params } from './support/talk.ts';

function programThatIs(manner: string, options: Partial<StdioBackendOptions> = {}) {
  const program = nodeProgram('test/support/backend/older-program.ts', manner);
  const backend = createStdioBackend('There', { ...program, ...options }, { logger: createLogger('silent') });
  onTestFinished(() => backend.close());
  return backend;
}

/** Has a conversation begin right after the program was asked what it speaks. */
async function openAfterQuestion(backend: ReturnType<typeof programThatIs>) {
  const conversations = createConversations({ source: backend.source, logger: createLogger('silent') });
  onTestFinished(() => conversations.close());
  const caller = createCaller();
  expect(await backend.source.modern?.(caller)).toBeUndefined();
  const sinceMs = performance.now();
  const opening = await conversations.open(params, caller, { hear() {}, ended() {} });
  return { opening, tookMs: performance.now() - sinceMs };
}

describe('a program of an older revision that goes on as the process that was asked what it speaks (B1-09)', () => {
  it('is started anew where that process refuses initialize to a conversation that had one before', async () => {
    // So few that the question takes the place of the conversation's own.
    const backend = programThatIs('offended', { maxProcesses: 5 });
    const talk = await open(backend, 'ada');
    expect(await talk.ask('initialize', params)).toHaveProperty('result');
    talk.tell({ method: 'notifications/initialized' });
    expect(await talk.ask('tools/list')).toHaveProperty('result');
    expect(await backend.source.modern?.(callerFor(callerOf('ada')))).toBeUndefined();
    expect(await talk.ask('tools/list')).toHaveProperty('result');
    expect(backend.status()).toMatchObject({ processes: 1, failures: { count: 0 } });
  });

  it('is started anew where that process answers nothing more, in the time that is left', async () => {
    const backend = programThatIs('sulky', { startMs: 6_000 });
    const { opening, tookMs } = await openAfterQuestion(backend);
    expect(opening).not.toHaveProperty('error');
    expect(tookMs).toBeLessThan(6_000);
    expect(backend.status()).toMatchObject({ processes: 1, failures: { count: 0 } });
  });

  it('has the time of one start, however often it is started', async () => {
    const { opening, tookMs } = await openAfterQuestion(programThatIs('failing', { startMs: 3_000 }));
    expect(opening).toMatchObject({ error: { data: { reason: 'backend_start_timed_out' } } });
    expect(tookMs).toBeLessThan(3_800);
  });
});
