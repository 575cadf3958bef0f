// Flows of src/authorization-server/limits.ts and src/authorization-server/endpoint-limits/endpoint-limits.ts.
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, refresh, tryAccess } from '../../support/oauth.ts';
import { countStatuses, expectTokens, generousLimits } from './subject.ts';

async function start(options: Parameters<typeof startGatehouse>[0]): Promise<RunningGatehouse> {
  const gatehouse = await startGatehouse(options);
  onTestFinished(() => gatehouse.stop());
  return gatehouse;
}

describe('guessing', () => {
  it('a thousand tokens of a client from one address is slowed down after three hundred, and says for how long (T-055)', async () => {
    const gatehouse = await start({});
    const { clientId } = await obtainTokens(gatehouse);
    const responses: Response[] = [];
    for (let batch = 0; batch < 10; batch++) {
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, at) => refresh(gatehouse.url, clientId, `guess-${batch}-${at}`)),
      );
      for (const answer of answers) await answer.text();
      responses.push(...answers);
    }
    const counts = countStatuses(responses);
    expect(Object.keys(counts)).toEqual(['400', '429']);
    expect(counts[400]).toBeGreaterThanOrEqual(300);
    expect(counts[400]).toBeLessThanOrEqual(400);
    const last = await refresh(gatehouse.url, clientId, 'one more');
    expect(last.status).toBe(429);
    expect(last.headers.get('access-control-allow-origin')).toBe('*');
    expect(last.headers.get('access-control-expose-headers')).toContain('Retry-After');
    const seconds = Number(last.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(last.headers.get('cache-control')).toBe('no-store');
    expect(await last.json()).toEqual({
      error: 'temporarily_unavailable',
      error_description: expect.stringContaining(`${seconds} seconds`),
    });
  });

  it('does not touch who has a token already, nor a client that fails less (T-055)', async () => {
    const gatehouse = await start({
      limits: { ...generousLimits, tokenFailures: { times: 5, windowSeconds: 60 } },
    });
    const { clientId, tokens } = await obtainTokens(gatehouse);
    let current = tokens;
    for (let success = 0; success < 10; success++)
      current = await expectTokens(await refresh(gatehouse.url, clientId, current.refresh_token));
    for (let failure = 0; failure < 5; failure++)
      expect((await refresh(gatehouse.url, clientId, 'guess')).status).toBe(400);
    expect((await refresh(gatehouse.url, clientId, current.refresh_token)).status).toBe(429);
    expect(await tryAccess(gatehouse.mcpUrl, current.access_token)).toBe(200);
  });

  it.each([
    ['too large', {}, 'x'.repeat(57_345), 413],
    ['compressed', { 'content-encoding': 'gzip' }, 'x', 415],
  ])('counts requests with a body that is %s, too (T-055)', async (_what, coding, body, status) => {
    const tokenFailures = { times: 5, windowSeconds: 60 };
    const gatehouse = await start({ limits: { ...generousLimits, tokenFailures } });
    const send = (more: Record<string, string> = {}) => {
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      const headers = { ...type, ...coding, ...more } as Record<string, string>;
      return fetch(`${gatehouse.url}/token`, { method: 'POST', headers, body });
    };
    for (let failure = 0; failure < 5; failure++) expect((await send()).status).toBe(status);
    expect((await send()).status).toBe(429);
    expect((await send({ authorization: `Basic ${btoa('somebody:else')}` })).status).toBe(status);
  });

  it.each(['token', 'par', 'device/auth', 'revoke'])(
    'does not count forms to /%s that end too early (FA-12, T-207)',
    async (path) => {
      const one = { times: 1, windowSeconds: 60 };
      const gatehouse = await startGatehouse({
        limits: { ...generousLimits, tokenFailures: one, authorizations: one },
      });
      onTestFinished(() => gatehouse.stop());
      const { hostname, port } = new URL(gatehouse.listensAt);
      for (let attempt = 0; attempt < 20; attempt++) {
        const socket = connect(Number(port), hostname);
        await once(socket, 'connect');
        const type = 'Content-Type: application/x-www-form-urlencoded';
        const lines = [`POST /${path} HTTP/1.1`, 'Host: localhost', type, 'Content-Length: 99'];
        socket.end(`${lines.join('\r\n')}\r\n\r\ntoken=`);
        socket.resume();
        await once(socket, 'close');
      }
      const form = { method: 'POST', body: new URLSearchParams({ token: 'x' }) };
      expect((await fetch(`${gatehouse.url}/${path}`, form)).status).not.toBe(429);
    },
  );

  it('has to find 128 bits: no token is shorter, and none shares the beginning of its secret with another (T-055)', async () => {
    const gatehouse = await start({ limits: generousLimits });
    const { clientId, tokens, code } = await obtainTokens(gatehouse);
    const secrets = [code, tokens.access_token, tokens.refresh_token];
    let current = tokens;
    for (let round = 0; round < 50; round++) {
      current = await expectTokens(await refresh(gatehouse.url, clientId, current.refresh_token));
      secrets.push(current.access_token, current.refresh_token);
    }
    const base64url = /^[\w-]+$/;
    expect(secrets.every((secret) => base64url.test(secret) && secret.length * 6 >= 128)).toBe(true);
    expect(new Set(secrets.map((secret) => secret.slice(0, 8))).size).toBe(secrets.length);
  });
});
