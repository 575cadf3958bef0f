// Flows of src/cli/commands/server/serve.ts.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testFolderForFile } from '../../support/folder.ts';
import { obtainTokens, refresh } from '../../support/oauth.ts';
import { expectTokens } from '../token/subject.ts';
import { expectIntact, type Restartable, startRestartable } from './served.ts';

const folder = testFolderForFile();
let served: Restartable;
beforeAll(async () => {
  served = await startRestartable(folder);
});
afterAll(() => served.stop());

/** An MCP session with its stream of server messages open. */
async function openStream(
  mcpUrl: string,
  accessToken: string,
): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const headers = {
    authorization: `Bearer ${accessToken}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const opened = await fetch(mcpUrl, { method: 'POST', headers, body });
  await opened.text();
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  const stream = await fetch(mcpUrl, {
    headers: { ...headers, ...session, accept: 'text/event-stream' },
  });
  expect(stream.status).toBe(200);
  if (!stream.body) throw new Error('no stream');
  return stream.body.getReader();
}

describe('a server asked to stop', () => {
  it('finishes what is in flight, closes streams, takes no new work, and ends with 0 within ten seconds (T-181)', async () => {
    const { at } = served;
    const { clientId, tokens } = await obtainTokens(at);
    const streams = await Promise.all(
      Array.from({ length: 20 }, () => openStream(at.mcpUrl, tokens.access_token)),
    );

    const { port } = new URL(at.url);
    const form = new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: tokens.refresh_token,
    }).toString();
    const slow = connect(Number(port), '127.0.0.1');
    let answer = '';
    slow.on('data', (chunk) => {
      answer += String(chunk);
    });
    const answered = new Promise((resolve) => slow.once('close', resolve));
    slow.write(
      `POST /token HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}\r\n\r\n${form.slice(0, 20)}`,
    );
    await new Promise((resolve) => setTimeout(resolve, 100));

    const begun = performance.now();
    const program = served.program();
    program.process.kill('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 300));
    await expect(fetch(`${at.url}/healthz`)).rejects.toThrow();
    slow.write(form.slice(20));
    await answered;
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    const refreshed = JSON.parse(
      answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1),
    ) as typeof tokens;
    for (const stream of streams) {
      for (let end = false; !end; )
        end = await stream.read().then(
          ({ done }) => done,
          () => true,
        );
    }
    expect(await program.ended).toBe(0);
    expect(performance.now() - begun).toBeLessThan(10_000);
    expectIntact(folder);

    await served.restart();
    await expectTokens(await refresh(at.url, clientId, refreshed.refresh_token));
  });
});
