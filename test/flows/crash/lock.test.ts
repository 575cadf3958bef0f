// Flows of src/app/errors.ts and src/authorization-server/engine/engine.ts.
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { modernRequest } from '../../mcp/support/gate.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, refresh } from '../../support/oauth.ts';
import { runProgram } from '../../support/program.ts';
import { expectRefused, expectTokens } from '../token/subject.ts';

/** A request without a session, which writes nothing. */
async function listTools(mcpUrl: string, accessToken: string): Promise<number> {
  const { headers, json } = modernRequest('tools/list');
  const response = await fetch(mcpUrl, {
    method: 'POST',
    headers: {
      ...headers,
      authorization: `Bearer ${accessToken}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(json),
  });
  await response.body?.cancel();
  return response.status;
}

describe('a database that another process has locked', () => {
  it('lets reads through, answers writes 503 within six seconds, and loses nothing (T-171)', async () => {
    const gatehouse = await startGatehouse();
    onTestFinished(() => gatehouse.stop());
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const holder = runProgram('test/storage/sqlite/hold-lock.ts', [
      join(gatehouse.folder, 'gatehouse.db'),
      '7000',
    ]);
    onTestFinished(() => holder.stop());
    await holder.waitFor('stdout', /locked/);

    let longestMs = 0;
    let last = performance.now();
    const watch = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - last);
      last = performance.now();
    }, 5);
    const begun = performance.now();
    const blocked = refresh(gatehouse.url, clientId, tokens.refresh_token);
    expect((await fetch(`${gatehouse.url}/healthz`)).status).toBe(200);
    expect(await listTools(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
    const refusal = await blocked;
    clearInterval(watch);
    expect(performance.now() - begun).toBeLessThan(6500);
    // Who waits for the lock without letting go of the process is held up for five seconds.
    expect(longestMs).toBeLessThan(1000);
    expect(refusal.headers.get('retry-after')).toBe('2');
    await expectRefused(refusal, 'temporarily_unavailable', 503);

    await holder.ended;
    await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
    expect(gatehouse.log.join('')).not.toContain(tokens.refresh_token);
  });
});
