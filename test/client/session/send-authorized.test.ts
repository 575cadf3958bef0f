import { describe, expect, it } from 'vitest';
import { sendAuthorized } from '../../../src/client/session/send-authorized.ts';
import { createDpopKey } from '../../../src/client/tokens/dpop.ts';
import { startOfTime, testContext } from '../support/context.ts';
import { checkProof, sha256 } from '../support/proofs.ts';
import { type Answer, startServer } from '../support/scripted-server.ts';

async function setUp(answer: Answer = { json: { ok: true } }) {
  const server = await startServer({ 'POST /mcp': answer, 'GET /mcp': answer });
  const credential = { accessToken: 'at', dpopKey: await createDpopKey() };
  const context = testContext();
  const send = (init: RequestInit = { method: 'POST', body: 'x' }) =>
    sendAuthorized(context, credential, `${server.origin}/mcp?q=1`, init);
  const proofs = () => server.requests.map((seen) => checkProof(seen, server.origin, startOfTime));
  return { server, context, send, proofs };
}

const needsNonce = (nonce: string, challenge = 'DPoP error="use_dpop_nonce"'): Answer => ({
  status: 401,
  headers: { 'dpop-nonce': nonce, 'www-authenticate': challenge },
  json: {},
});

describe('a request with a bearer token', () => {
  it('carries it in place of what the caller had, and no proof (A7-05)', async () => {
    const server = await startServer({ 'GET /mcp': { json: {} } });
    const headers = { authorization: 'Bearer other', dpop: 'x', accept: 'text/plain' };
    await sendAuthorized(testContext(), { accessToken: 'at' }, `${server.origin}/mcp`, { headers });
    expect(server.requests[0]?.headers).toMatchObject({ authorization: 'Bearer at', accept: 'text/plain' });
    expect(server.requests[0]?.headers.dpop).toBeUndefined();
  });
});

describe('a request with a token that is bound to a key', () => {
  it('carries the token and a proof for this request, never used before (A13-09)', async () => {
    const { server, send, proofs } = await setUp();
    await send({
      method: 'POST',
      body: 'x',
      headers: { authorization: 'Bearer other', 'mcp-session-id': 's' },
    });
    await send({ headers: { dpop: 'other' } });
    expect(server.requests.map(({ method, body }) => [method, body])).toEqual([
      ['POST', 'x'],
      ['GET', ''],
    ]);
    expect(server.requests[0]?.headers).toMatchObject({ authorization: 'DPoP at', 'mcp-session-id': 's' });
    const [one, other] = proofs();
    expect(one).toMatchObject({ ath: sha256('at'), nonce: undefined });
    expect(one?.jti).not.toBe(other?.jti);
    expect(one?.jkt).toBe(other?.jkt);
  });

  it('is sent once more with the nonce of the server, and the next one has it at once (A13-09)', async () => {
    const { server, send, proofs } = await setUp();
    const ok: Answer = { json: { ok: true } };
    server.routes['POST /mcp'] = () => {
      const [last] = proofs().slice(-1);
      return last?.nonce === 'n1' ? ok : needsNonce('n1');
    };
    expect((await send()).status).toBe(200);
    expect((await send()).status).toBe(200);
    expect(proofs().map(({ nonce }) => nonce)).toEqual([undefined, 'n1', 'n1']);
    expect(server.requests.map(({ body }) => body)).toEqual(['x', 'x', 'x']);
  });

  it('takes a newer nonce from any answer (A13-09)', async () => {
    const { send, proofs } = await setUp({ headers: { 'dpop-nonce': 'n2' }, json: {} });
    await send();
    await send();
    expect(proofs().map(({ nonce }) => nonce)).toEqual([undefined, 'n2']);
  });

  it('is not sent a third time to a server that always wants another nonce (T-186)', async () => {
    const { server, send } = await setUp();
    let nonce = 0;
    server.routes['POST /mcp'] = () => needsNonce(`n${++nonce}`);
    const response = await send();
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({});
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ['says that the token is bad', { challenge: 'DPoP error="invalid_token"', body: 'x' }],
    ['cannot send the body again', { challenge: undefined, body: new Blob(['x']).stream() }],
  ])('is not repeated where it %s', async (_, { challenge, body }) => {
    const { server, send } = await setUp(needsNonce('n1', challenge));
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' };
    expect((await send(init)).status).toBe(401);
    expect(server.requests).toHaveLength(1);
  });

  it('does not follow a redirect, which would take the proof elsewhere (T-186)', async () => {
    const { server, send } = await setUp({
      status: 307,
      headers: { location: 'http://127.0.0.1:9/' },
      text: '',
    });
    expect((await send()).status).toBe(307);
    expect(server.requests).toHaveLength(1);
  });

  it('ends when the caller ends it', async () => {
    const { send } = await setUp({ raw: () => undefined });
    await expect(send({ method: 'POST', signal: AbortSignal.timeout(50) })).rejects.toThrow(/timeout/);
  });
});
