// Flows of src/resource-server/dpop/verify-proof.ts, src/authorization-server/endpoints/refresh-source.ts and
// src/authorization-server/endpoints/client-assertion.ts.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseChallenges } from '../../../src/oauth/challenge.ts';
import { modernRequest } from '../../mcp/support/gate.ts';
import { obtainBoundTokens, postProven } from '../../support/bound-tokens.ts';
import { asserting, createClientKey } from '../../support/client-keys.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import {
  approve,
  authorization,
  obtainTokens,
  register,
  type Tokens,
  tryAccess,
} from '../../support/oauth.ts';
import { patience } from '../../support/patience.ts';
import { createProver, type Prover, provenHeaders } from '../../support/proofs.ts';
import { expectRefused, expectTokens, generousLimits, nodePort, serveAlongside } from './subject.ts';

let gatehouse: RunningGatehouse;
let prover: Prover;
beforeAll(async () => {
  gatehouse = await startGatehouse({ limits: generousLimits, ...nodePort });
  prover = await createProver();
});
afterAll(() => gatehouse.stop());
afterEach(() => void vi.useRealTimers());

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

/** A harmless call of the MCP endpoint. */
function call(headers: Record<string, string>, url = gatehouse.mcpUrl): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(initialize),
  });
}

async function callProven(
  accessToken: string,
  chosen: Partial<Parameters<Prover['prove']>[0]> = {},
  by = prover,
): Promise<Response> {
  const proof = await by.prove({ url: gatehouse.mcpUrl, accessToken, ...chosen });
  return call(provenHeaders(accessToken, proof), gatehouse.mcpUrl);
}

const challengesOf = (response: Response) => parseChallenges(response.headers.get('www-authenticate') ?? '');

const refreshFields = (clientId: string, tokens: Tokens) => ({
  grant_type: 'refresh_token',
  client_id: clientId,
  refresh_token: tokens.refresh_token,
});

describe('a token that is bound to a key', () => {
  it('is issued for a proof, says so, and opens the MCP endpoint with one (A13-09)', async () => {
    const { tokens } = await obtainBoundTokens(gatehouse, prover);
    expect(tokens.token_type).toBe('DPoP');
    const response = await callProven(tokens.access_token);
    expect(response.status).toBe(200);
    expect(response.headers.get('dpop-nonce')).toMatch(/^[\w-]{43}$/);
  });

  it('is worth nothing as a bearer token, whoever has it (A13-09)', async () => {
    const { tokens } = await obtainBoundTokens(gatehouse, prover);
    const response = await call({ authorization: `Bearer ${tokens.access_token}` });
    expect(response.status).toBe(401);
    expect(challengesOf(response)).toMatchObject([
      { scheme: 'bearer', parameters: { error: 'invalid_token' } },
      { scheme: 'dpop', parameters: { algs: 'ES256 Ed25519 EdDSA' } },
    ]);
  });

  it.each<[string, (accessToken: string) => Promise<Response>]>([
    ['no proof', (token) => call({ authorization: `DPoP ${token}` })],
    ['a proof of another key', async (token) => callProven(token, {}, await createProver())],
    ['a proof for another method', (token) => callProven(token, { method: 'GET' })],
    ['a proof for the token endpoint', (token) => callProven(token, { url: `${gatehouse.url}/token` })],
    ['a proof for another token', (token) => callProven(token, { accessToken: 'other' })],
    [
      'a proof for where it listens, not for its public URL',
      (token) => callProven(token, { url: `${gatehouse.listensAt}/mcp` }),
    ],
    ['a proof without an id', (token) => callProven(token, { claims: { jti: undefined } })],
  ])('is refused with %s, and told so by the scheme it used (A13-09)', async (_what, attempt) => {
    const { tokens } = await obtainBoundTokens(gatehouse, prover);
    const response = await attempt(tokens.access_token);
    expect(response.status).toBe(401);
    expect(challengesOf(response)[0]).toMatchObject({
      scheme: 'dpop',
      parameters: { error: 'invalid_dpop_proof', resource_metadata: expect.any(String) },
    });
    expect(await response.json()).toMatchObject({ error: 'invalid_dpop_proof' });
  });

  it('that lacks a scope is told by the scheme it came with (A8-04, A13-09)', async () => {
    const { tokens } = await obtainBoundTokens(gatehouse, prover, { scopes: ['notes:read'] });
    const accessToken = tokens.access_token;
    const proof = await prover.prove({ url: gatehouse.mcpUrl, accessToken });
    const add = modernRequest('tools/call', { name: 'add_note', arguments: { text: 'a' } });
    const response = await fetch(gatehouse.mcpUrl, {
      method: 'POST',
      headers: {
        ...provenHeaders(accessToken, proof),
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...add.headers,
      },
      body: JSON.stringify(add.json),
    });
    expect([response.status, challengesOf(response)]).toMatchObject([
      403,
      [{ scheme: 'dpop', parameters: { error: 'insufficient_scope', scope: 'notes:write' } }],
    ]);
  });

  it('is not had by a Host header: the public URL decides where a proof is for (A13-09, T-106)', async () => {
    const { tokens } = await obtainBoundTokens(gatehouse, prover);
    const proof = await prover.prove({ url: gatehouse.mcpUrl, accessToken: tokens.access_token });
    const response = await call(
      { ...provenHeaders(tokens.access_token, proof), 'x-forwarded-host': 'evil.example' },
      gatehouse.mcpUrl,
    );
    expect(response.status).toBe(200);
  });

  it('goes with each proof once, in every process on the database, many at a time too (A13-09)', async () => {
    const { tokens } = await obtainBoundTokens(gatehouse, prover);
    const other = await serveAlongside(gatehouse);
    try {
      const proof = await prover.prove({ url: gatehouse.mcpUrl, accessToken: tokens.access_token });
      const headers = provenHeaders(tokens.access_token, proof);
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, at) => call(headers, at % 2 === 0 ? gatehouse.mcpUrl : other.mcpUrl)),
      );
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(responses.filter(({ status }) => status === 401)).toHaveLength(19);
    } finally {
      await other.program.stop();
    }
  });

  it('goes with the nonce it was told where the clock of its client is wrong (A13-09)', async () => {
    const { tokens } = await obtainBoundTokens(gatehouse, prover);
    const late = { claims: { iat: Math.floor(Date.now() / 1000) - 3600 } };
    const refusal = await callProven(tokens.access_token, late);
    expect(refusal.status).toBe(401);
    expect(challengesOf(refusal)[0]?.parameters.error).toBe('use_dpop_nonce');
    const nonce = refusal.headers.get('dpop-nonce') ?? '';
    expect((await callProven(tokens.access_token, { ...late, nonce })).status).toBe(200);
  });

  it('opens SSE, Rest and streams as well, each with a proof for its own URL, and no other (A13-09)', async () => {
    for (const [path, method] of [
      ['/sse', 'GET'],
      ['/rest', 'POST'],
    ] as const) {
      const url = `${gatehouse.url}${path}`;
      const { tokens } = await obtainBoundTokens({ ...gatehouse, mcpUrl: url }, prover);
      const attempt = async (target: string) =>
        fetch(url, {
          method,
          headers: {
            ...provenHeaders(
              tokens.access_token,
              await prover.prove({ url: target, method, accessToken: tokens.access_token }),
            ),
            'content-type': 'application/json',
          },
          ...(method === 'POST' ? { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) } : {}),
        });
      expect((await attempt(gatehouse.mcpUrl)).status).toBe(401);
      const response = await attempt(url);
      expect(response.status).toBe(200);
      await response.body?.cancel();
    }
  });

  it('keeps a stream open for longer than its proof is good, and ends it when it is revoked (A13-09, A12-04)', async () => {
    const { tokens, clientId } = await obtainBoundTokens(gatehouse, prover);
    const begun = await callProven(tokens.access_token);
    await begun.text();
    const session = begun.headers.get('mcp-session-id') ?? '';
    const proof = await prover.prove({
      url: gatehouse.mcpUrl,
      method: 'GET',
      accessToken: tokens.access_token,
    });
    const stream = await fetch(gatehouse.mcpUrl, {
      headers: {
        ...provenHeaders(tokens.access_token, proof),
        accept: 'text/event-stream',
        'mcp-session-id': session,
      },
    });
    expect(stream.status).toBe(200);
    let ended = false;
    const whole = stream.text().finally(() => {
      ended = true;
    });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1_200_000 });
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(ended).toBe(false);
    await fetch(`${gatehouse.url}/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: clientId, token: tokens.access_token }),
    });
    const revokedAt = performance.now();
    await whole;
    expect(performance.now() - revokedAt).toBeLessThan(patience(1000));
  });

  it('is readable to pages with its nonce, where they may call at all (A13-09)', async () => {
    const { tokens } = await obtainBoundTokens(gatehouse, prover);
    const proof = await prover.prove({ url: gatehouse.mcpUrl, accessToken: tokens.access_token });
    const response = await call({ ...provenHeaders(tokens.access_token, proof), origin: gatehouse.url });
    expect(response.headers.get('access-control-expose-headers')).toContain('DPoP-Nonce');
  });

  it('is refused with a proof in place of a bearer token that is bound to nothing (A13-09)', async () => {
    const { tokens } = await obtainTokens(gatehouse);
    const response = await callProven(tokens.access_token);
    expect(response.status).toBe(401);
    expect(challengesOf(response)[0]).toMatchObject({
      scheme: 'dpop',
      parameters: { error: 'invalid_token' },
    });
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
  });
});

describe('the token endpoint', () => {
  it('says in its metadata what proofs may be signed with, and so does the resource (A13-09)', async () => {
    const algorithms = ['ES256', 'Ed25519', 'EdDSA'];
    const places = ['oauth-authorization-server', 'oauth-protected-resource/mcp'];
    for (const place of places) {
      const document = await (await fetch(`${gatehouse.url}/.well-known/${place}`)).json();
      expect(document).toMatchObject({ dpop_signing_alg_values_supported: algorithms });
    }
  });

  it('gives a code that was asked for with a key to the holder of that key alone (A13-09)', async () => {
    const { client_id: clientId } = await register(gatehouse.url);
    const flow = authorization(gatehouse, clientId, { dpop_jkt: prover.thumbprint });
    const code = (await approve(flow)).searchParams.get('code') ?? '';
    const fields = {
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: flow.redirectUri,
      code_verifier: flow.verifier,
      code,
    };
    const thief = await createProver();
    await expectRefused(await postProven(gatehouse.url, thief, fields), 'invalid_grant');
    expect((await expectTokens(await postProven(gatehouse.url, prover, fields))).token_type).toBe('DPoP');
  });

  it('takes a proof once, also of many that come at once, for whatever they ask (A13-09)', async () => {
    const { client_id: clientId } = await register(gatehouse.url);
    const held = await Promise.all(
      Array.from({ length: 5 }, () =>
        obtainBoundTokens(gatehouse, prover, { client: { client_id: clientId } }),
      ),
    );
    const jti = randomUUID();
    const responses = await Promise.all(
      held.map(({ tokens }) =>
        postProven(gatehouse.url, prover, refreshFields(clientId, tokens), { claims: { jti } }),
      ),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const response of responses)
      if (response.status !== 200) await expectRefused(response, 'invalid_dpop_proof');
    const [refused] = held.filter((_, at) => responses[at]?.status !== 200);
    if (!refused) throw new Error('all were answered');
    const fields = refreshFields(clientId, refused.tokens);
    await expectRefused(
      await postProven(gatehouse.url, prover, fields, { claims: { jti } }),
      'invalid_dpop_proof',
    );
    await expectTokens(await postProven(gatehouse.url, prover, fields));
  });

  it('says of a proof that came twice at once that it was the proof, also beside a client assertion (A13-09, T-197)', async () => {
    const key = await createClientKey();
    const { client_id: clientId } = await register(gatehouse.url, {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [key.jwk] },
    });
    const asked = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const flow = authorization(gatehouse, clientId);
        return {
          grant_type: 'authorization_code',
          redirect_uri: flow.redirectUri,
          code_verifier: flow.verifier,
          code: (await approve(flow)).searchParams.get('code') ?? '',
          ...asserting(await key.sign(clientId, gatehouse.url)),
        };
      }),
    );
    const jti = randomUUID();
    const before = gatehouse.log.length;
    const responses = await Promise.all(
      asked.map((fields) => postProven(gatehouse.url, prover, fields, { claims: { jti } })),
    );
    const refused = responses.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(4);
    for (const response of refused) await expectRefused(response, 'invalid_dpop_proof');
    const reasons = gatehouse.log
      .slice(before)
      .map((line) => JSON.parse(line) as { audit?: string; reason?: string })
      .filter(({ audit }) => audit === 'token.refused')
      .map(({ reason }) => reason);
    expect(reasons).toEqual(Array(4).fill('DPoP proof JWT Replay detected'));
  });

  it.each<[string, Partial<Parameters<Prover['prove']>[0]>]>([
    ['for another URL', { url: 'https://evil.example/token' }],
    ['for another method', { method: 'GET' }],
    ['that shows no key', { header: { jwk: undefined } }],
    ['of another type', { header: { typ: 'JWT' } }],
    ['without an id', { claims: { jti: undefined } }],
  ])('refuses a proof %s, and uses nothing up (A13-09)', async (_what, chosen) => {
    const { clientId, tokens } = await obtainBoundTokens(gatehouse, prover);
    const fields = refreshFields(clientId, tokens);
    await expectRefused(await postProven(gatehouse.url, prover, fields, chosen), 'invalid_dpop_proof');
    await expectTokens(await postProven(gatehouse.url, prover, fields));
  });

  it('asks for a nonce where the clock of the client is wrong, and takes it (A13-09)', async () => {
    const { clientId, tokens } = await obtainBoundTokens(gatehouse, prover);
    const fields = refreshFields(clientId, tokens);
    const late = { claims: { iat: Math.floor(Date.now() / 1000) - 3600 } };
    const refusal = await postProven(gatehouse.url, prover, fields, late);
    const nonce = refusal.headers.get('dpop-nonce') ?? '';
    await expectRefused(refusal, 'use_dpop_nonce');
    await expectTokens(await postProven(gatehouse.url, prover, fields, { ...late, nonce }));
  });
});

describe('a refresh token of a public client with a key', () => {
  it('is refreshed with that key, and the new tokens are bound to it (A13-09)', async () => {
    const { clientId, tokens } = await obtainBoundTokens(gatehouse, prover);
    const next = await expectTokens(await postProven(gatehouse.url, prover, refreshFields(clientId, tokens)));
    expect(next.token_type).toBe('DPoP');
    expect((await callProven(next.access_token)).status).toBe(200);
  });

  it('is nothing to another key, or without one: it is refused and goes on (A13-09)', async () => {
    const { clientId, tokens } = await obtainBoundTokens(gatehouse, prover);
    const fields = refreshFields(clientId, tokens);
    const attempt = async (by: Prover | undefined) =>
      by
        ? postProven(gatehouse.url, by, fields)
        : fetch(`${gatehouse.url}/token`, { method: 'POST', body: new URLSearchParams(fields) });
    await expectRefused(await attempt(await createProver()), 'invalid_grant');
    await expectRefused(await attempt(undefined), 'invalid_grant');
    const next = await expectTokens(await attempt(prover));

    // Within the grace window the first answer is for the same key as well.
    expect((await expectTokens(await attempt(prover))).access_token).toBe(next.access_token);
    await expectRefused(await attempt(await createProver()), 'invalid_grant');
    await expectRefused(await attempt(undefined), 'invalid_grant');
    expect((await callProven(next.access_token)).status).toBe(200);
  });
});

describe('a refresh token of a confidential client with a key', () => {
  it('gives its first answer again to the same key alone, within the grace window (A13-09)', async () => {
    const client = await register(gatehouse.url, { token_endpoint_auth_method: 'client_secret_post' });
    const { tokens } = await obtainBoundTokens(gatehouse, prover, { client });
    const fields = {
      ...refreshFields(client.client_id, tokens),
      client_secret: String(client.client_secret),
    };
    const next = await expectTokens(await postProven(gatehouse.url, prover, fields));
    expect((await expectTokens(await postProven(gatehouse.url, prover, fields))).access_token).toBe(
      next.access_token,
    );
    await expectRefused(await postProven(gatehouse.url, await createProver(), fields), 'invalid_dpop_proof');
    const plain = fetch(`${gatehouse.url}/token`, { method: 'POST', body: new URLSearchParams(fields) });
    await expectRefused(await plain, 'invalid_dpop_proof');
    expect((await callProven(next.access_token)).status).toBe(200);
  });
});

describe('a resource that takes only bound tokens', () => {
  it('says so in its metadata and its challenge, gets no other, and takes no other (A13-09)', async () => {
    const strict = await startGatehouse({ limits: generousLimits, tokens: { dpop: { required: true } } });
    try {
      const metadata = await fetch(`${strict.url}/.well-known/oauth-protected-resource/mcp`);
      expect(await metadata.json()).toMatchObject({ dpop_bound_access_tokens_required: true });
      expect(challengesOf(await call({}, strict.mcpUrl)).map(({ scheme }) => scheme)).toEqual(['dpop']);

      const { client_id: clientId } = await register(strict.url);
      const flow = authorization(strict, clientId);
      const fields = {
        grant_type: 'authorization_code',
        client_id: clientId,
        redirect_uri: flow.redirectUri,
        code_verifier: flow.verifier,
        code: (await approve(flow)).searchParams.get('code') ?? '',
      };
      const plain = fetch(`${strict.url}/token`, { method: 'POST', body: new URLSearchParams(fields) });
      await expectRefused(await plain, 'invalid_dpop_proof');
      expect((await expectTokens(await postProven(strict.url, prover, fields))).token_type).toBe('DPoP');
    } finally {
      await strict.stop();
    }
  });
});
