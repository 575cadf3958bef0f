// Flows of src/resource-server/access-watch.ts: open streams of all transports, in two processes on one database.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { initializeRequest, modernRequest } from '../../mcp/support/gate.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, post } from '../../support/oauth.ts';
import { oneSecondMs } from '../../support/one-second.ts';
import { grace, runGatehouse } from '../../support/served.ts';
import { placeOf } from '../../support/test-storage.ts';
import { nodePort, serveAlongside } from '../token/subject.ts';

let gatehouse: RunningGatehouse;
let other: Awaited<ReturnType<typeof serveAlongside>>;
beforeAll(async () => {
  gatehouse = await startGatehouse({ ...nodePort });
  other = await serveAlongside(gatehouse);
});
afterAll(async () => {
  await other.program.stop();
  await gatehouse.stop();
});

/** An open stream: resolves with the time of its end. */
interface Open {
  name: string;
  ended: Promise<number>;
}

const json = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

/** Opens a stream of every kind at one process. */
async function openStreams(url: string, tokens: { mcp: string; sse: string }): Promise<Open[]> {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const { signal } = leaving;
  const open = async (name: string, sent: Promise<Response>): Promise<Open> => {
    const response = await sent;
    expect([name, response.status, response.headers.get('content-type')]).toEqual([
      name,
      200,
      'text/event-stream',
    ]);
    return { name: `${name} at ${url}`, ended: response.text().then(() => performance.now()) };
  };
  const mcp = { ...json, authorization: `Bearer ${tokens.mcp}` };
  const initialized = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: mcp,
    body: JSON.stringify(initializeRequest()),
  });
  await initialized.text();
  const session = { ...mcp, 'mcp-session-id': initialized.headers.get('mcp-session-id') ?? '' };
  const listen = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } });
  return Promise.all([
    open('GET of a session', fetch(`${url}/mcp`, { headers: session, signal })),
    open(
      'subscriptions/listen',
      fetch(`${url}/mcp`, {
        method: 'POST',
        headers: { ...mcp, ...listen.headers },
        body: JSON.stringify(listen.json),
        signal,
      }),
    ),
    open(
      'HTTP+SSE',
      fetch(`${url}/sse`, {
        headers: { accept: 'text/event-stream', authorization: `Bearer ${tokens.sse}` },
        signal,
      }),
    ),
  ]);
}

/** Logs an account in for both resources and opens its streams at both processes. */
async function openEverywhere(person?: typeof grace) {
  const chosen = person ? { person } : {};
  const mcp = await obtainTokens(gatehouse, chosen);
  const sse = await obtainTokens({ ...gatehouse, mcpUrl: `${gatehouse.url}/sse` }, chosen);
  const tokens = { mcp: mcp.tokens.access_token, sse: sse.tokens.access_token };
  const streams = await Promise.all([gatehouse.url, other.url].map((url) => openStreams(url, tokens)));
  return { streams: streams.flat(), logins: [mcp, sse] };
}

/** Expects streams to end within a second of a moment. */
async function expectEnded(streams: readonly Open[], since: number): Promise<void> {
  for (const { name, ended } of streams) expect((await ended) - since, name).toBeLessThan(oneSecondMs);
}

describe('the streams of a token, in two processes on one database', () => {
  it('end within a second of its revocation at one of them; those of others go on (A12-04, T-103)', async () => {
    const { streams, logins } = await openEverywhere();
    const bystanders = await openEverywhere();
    for (const { clientId, tokens } of logins) {
      const fields = { token: tokens.access_token, client_id: clientId };
      expect((await post(`${gatehouse.url}/revoke`, fields)).status).toBe(200);
    }
    await expectEnded(streams, performance.now());
    const still = await Promise.race([
      ...bystanders.streams.map(({ name, ended }) => ended.then(() => name)),
      new Promise((resolve) => setTimeout(() => resolve('open'), 1000)),
    ]);
    expect(still).toBe('open');
  });

  it.each([
    ['removes the account', ['remove'], ''],
    ['sets another password', ['password'], 'another one, just as long'],
  ])('end within a second when the operator %s (A12-04, T-103)', async (_what, [command = ''], input) => {
    await gatehouse.administration.accounts.add(grace.email, grace.password).catch(() => undefined);
    const { streams } = await openEverywhere(grace);
    const options = command === 'password' ? ['--password-stdin'] : [];
    const { code, stderr } = await runGatehouse(
      ['account', command, grace.email, ...options, ...(await placeOf(gatehouse.folder))],
      { input },
    );
    expect([code, stderr]).toEqual([0, expect.anything()]);
    await expectEnded(streams, performance.now());
  });
});
