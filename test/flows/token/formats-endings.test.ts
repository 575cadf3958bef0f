// Flows of src/resource-server/access-watch.ts: what is open and what runs, for every form an access token has.
import { setTimeout as wait } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GateRequest, modernRequest } from '../../mcp/support/gate.ts';
import { obtainBoundTokens } from '../../support/bound-tokens.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, post, type Tokens } from '../../support/oauth.ts';
import { oneSecondMs } from '../../support/one-second.ts';
import { createProver, type Prover, provenHeaders } from '../../support/proofs.ts';
import { generousLimits } from './subject.ts';

/** A server with a tool that does not end by itself while a test looks. */
function createPatientServer(): McpServer {
  const server = new McpServer({ name: 'patient', version: '1' });
  server.registerTool('wait', {}, async () => {
    await new Promise((resolve) => setTimeout(resolve, 20_000).unref());
    return { content: [{ type: 'text', text: 'waited to the end' }] };
  });
  return server;
}

interface Login {
  clientId: string;
  tokens: Tokens;
  person: { email: string; password: string };
  /** The headers of a request with the token, and with a proof where it is bound to a key. */
  headers(method: string): Promise<Record<string, string>>;
}

const endings: readonly [string, (gatehouse: RunningGatehouse, login: Login) => Promise<unknown>][] = [
  [
    'its grant is revoked',
    ({ url }, { clientId, tokens }) =>
      post(`${url}/revoke`, { client_id: clientId, token: tokens.access_token }),
  ],
  ['its app is removed', ({ administration }, { clientId }) => administration.clients.remove(clientId)],
  [
    'the password of its account is changed',
    ({ administration }, { person }) =>
      administration.accounts.setPassword(person.email, 'another password altogether'),
  ],
];

describe.each(['opaque', 'jwt'] as const)('an access token in the format %s', (format) => {
  let gatehouse: RunningGatehouse;
  let sessionless: RunningGatehouse;
  let prover: Prover;
  let people = 0;
  beforeAll(async () => {
    prover = await createProver();
    const settings = {
      limits: generousLimits,
      tokens: { format },
      server: { name: 'Patient', create: createPatientServer },
    };
    gatehouse = await startGatehouse(settings);
    sessionless = await startGatehouse({ ...settings, mcp: { sessions: 'none' } });
  });
  afterAll(async () => {
    await gatehouse.stop();
    await sessionless.stop();
  });

  async function logIn(
    isBound: boolean,
    at: Pick<RunningGatehouse, 'url' | 'mcpUrl'> = gatehouse,
    { administration } = gatehouse,
  ): Promise<Login> {
    const person = { email: `person-${people++}@example.com`, password: 'a password of their own' };
    await administration.accounts.add(person.email, person.password);
    const chosen = { person, scopes: ['mcp'] };
    const { clientId, tokens } = isBound
      ? await obtainBoundTokens(at, prover, { ...chosen, parameters: { scope: 'mcp' } })
      : await obtainTokens(at, { ...chosen, scope: 'mcp' });
    const { access_token: accessToken } = tokens;
    const headers = async (method: string): Promise<Record<string, string>> =>
      isBound
        ? provenHeaders(accessToken, await prover.prove({ url: at.mcpUrl, method, accessToken }))
        : { authorization: `Bearer ${accessToken}` };
    return { clientId, tokens, person, headers };
  }

  /** Sends a request of the MCP endpoint with the token. */
  async function send(login: Login, method: 'GET' | 'POST', message?: object, session?: string) {
    return fetch(gatehouse.mcpUrl, {
      method,
      headers: {
        ...(await login.headers(method)),
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      },
      ...(message === undefined ? {} : { body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }) }),
    });
  }

  const cases = endings.flatMap(([what, end]) =>
    [false, true].map((isBound): [string, string, boolean, (typeof endings)[number][1]] => [
      isBound ? 'bound to a key' : 'for whoever bears it',
      what,
      isBound,
      end,
    ]),
  );

  it.each(cases)(
    '%s ends within a second when %s, and so do its open streams and running calls (F3, T-103, A12-04)',
    async (_form, _what, isBound, end) => {
      const login = await logIn(isBound);
      const params = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      };
      const begun = await send(login, 'POST', { method: 'initialize', params });
      expect(begun.status).toBe(200);
      await begun.text();
      const session = begun.headers.get('mcp-session-id') ?? '';
      const stream = await send(login, 'GET', undefined, session);
      expect(stream.status).toBe(200);
      const streamEnded = stream.text().then(() => performance.now());
      /** A call that began so long before the end; gives when it was over, and with what. */
      const callBefore = async (milliseconds: number, id: number) => {
        await new Promise((resolve) => setTimeout(resolve, 1200 - milliseconds));
        const response = await send(
          login,
          'POST',
          { id, method: 'tools/call', params: { name: 'wait' } },
          session,
        );
        return { text: await response.text(), at: performance.now() };
      };
      const calls = [1200, 300, 100, 20].map(callBefore);
      await new Promise((resolve) => setTimeout(resolve, 1220));

      await end(gatehouse, login);
      const endedAt = performance.now();
      expect((await send(login, 'POST', { id: 9, method: 'ping' }, session)).status).toBe(401);
      expect((await streamEnded) - endedAt).toBeLessThan(oneSecondMs);
      for (const call of calls) {
        const { text, at } = await call;
        expect(at - endedAt).toBeLessThan(oneSecondMs);
        expect(text).not.toContain('waited to the end');
      }
    },
  );

  it.each(endings)(
    'ends the calls without a session within a second when %s: over Rest, of 2026-07-28, of older revisions one by one; and who listens (F3, T-103, A12-04)',
    async (_what, end) => {
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } };
      const older = { headers: { 'mcp-protocol-version': '2025-11-25' }, json: call };
      const ways: readonly [string, GateRequest][] = [
        ['/rest', older],
        ['/mcp', modernRequest('tools/call', { name: 'wait' })],
        ['/mcp', modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } })],
        ['/mcp', older],
      ];
      await Promise.all(
        ways.map(async ([path, request]) => {
          const at = request === older && path === '/mcp' ? sessionless : gatehouse;
          const url = `${at.url}${path}`;
          const login = await logIn(false, { url: at.url, mcpUrl: url }, at);
          const send = async () =>
            fetch(url, {
              method: 'POST',
              headers: {
                ...(await login.headers('POST')),
                accept: 'application/json, text/event-stream',
                'content-type': 'application/json',
                ...request.headers,
              },
              body: JSON.stringify(request.json),
            });
          const callBefore = async (milliseconds: number) => {
            await wait(600 - milliseconds);
            const response = await send();
            expect(response.status).toBe(200);
            return { text: await response.text(), at: performance.now() };
          };
          const calls = [600, 300, 100].map(callBefore);
          // The last of them goes out half a second before the end, on a busy machine, too.
          await wait(1000);
          const endingAt = performance.now();
          await end(at, login);
          const endedAt = performance.now();
          expect((await send()).status).toBe(401);
          for (const running of calls) {
            const { text, at: overAt } = await running;
            expect(overAt - endedAt, `${path} ${text}`).toBeLessThan(oneSecondMs);
            expect(overAt, `${path} ${text}`).toBeGreaterThan(endingAt);
            expect(text).not.toContain('waited to the end');
          }
        }),
      );
    },
  );
});
