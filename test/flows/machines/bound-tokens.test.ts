import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startGatehouse } from '../../support/gatehouse.ts';
import { post, tryAccess } from '../../support/oauth.ts';
import { createProver, provenHeaders } from '../../support/proofs.ts';
import { expectRefused, expectTokens } from '../token/subject.ts';
import {
  basic,
  clientWithSecret,
  type EnterpriseSetUp,
  jwtBearer,
  tokenExchange,
  trustIdentityProvider,
} from './subject.ts';

// Over src/authorization-server/engine/engine-internals.ts: the engine checks proofs for grants of ours as for its own.

let setUp: EnterpriseSetUp;
beforeAll(async () => {
  setUp = await trustIdentityProvider();
});
afterAll(() => setUp.gatehouse.stop());

async function presentProven(assertion: string, proof: string, at = setUp): Promise<Response> {
  const fields = { grant_type: jwtBearer, assertion };
  return post(`${at.gatehouse.url}/token`, fields, { ...basic('desk'), dpop: proof });
}

describe('a token for an assertion', () => {
  it('is bound to the key of a proof, and of no use without it (A13-09)', async () => {
    const { gatehouse, assertion } = setUp;
    const prover = await createProver();
    const url = `${gatehouse.url}/token`;
    const tokens = await expectTokens(await presentProven(await assertion(), await prover.prove({ url })));
    expect(tokens.token_type).toBe('DPoP');
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
    const call = { method: 'POST', url: gatehouse.mcpUrl, accessToken: tokens.access_token };
    const proven = await fetch(gatehouse.mcpUrl, {
      method: 'POST',
      headers: {
        ...provenHeaders(tokens.access_token, await prover.prove(call)),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    });
    expect(proven.status).not.toBe(401);
  });

  it('is not given for a proof that is wrong or was used, and the assertion can be sent again (A13-09)', async () => {
    const { gatehouse, assertion } = setUp;
    const prover = await createProver();
    const url = `${gatehouse.url}/token`;
    const jwt = await assertion();
    const elsewhere = await prover.prove({ url: 'https://other.example/token' });
    await expectRefused(await presentProven(jwt, elsewhere), 'invalid_dpop_proof');
    const proof = await prover.prove({ url });
    await expectTokens(await presentProven(jwt, proof));
    await expectRefused(await presentProven(await assertion(), proof), 'invalid_dpop_proof');
  });

  it('is always bound where the resource takes only such (A13-09)', async () => {
    const strict = await trustIdentityProvider(undefined, { tokens: { dpop: { required: true } } });
    onTestFinished(() => strict.gatehouse.stop());
    const jwt = await strict.assertion();
    await expectRefused(await strict.present(jwt), 'invalid_dpop_proof');
    const prover = await createProver();
    const proof = await prover.prove({ url: `${strict.gatehouse.url}/token` });
    expect(await expectTokens(await presentProven(jwt, proof, strict))).toMatchObject({ token_type: 'DPoP' });
  });

  it('is given for an assertion that is bound to a key only with a proof of that key (FA-16, T-216)', async () => {
    const { gatehouse, assertion, present } = setUp;
    const url = `${gatehouse.url}/token`;
    const [prover, thief] = [await createProver(), await createProver()];
    const jwt = await assertion({ cnf: { jkt: prover.thumbprint } });
    await expectRefused(await present(jwt), 'invalid_dpop_proof');
    await expectRefused(await presentProven(jwt, await thief.prove({ url })), 'invalid_dpop_proof');
    const given = await expectTokens(await presentProven(jwt, await prover.prove({ url })));
    expect(given).toMatchObject({ token_type: 'DPoP' });
    for (const cnf of [null, {}, 'x', { jkt: 7 }, { 'x5t#S256': 'x' }, { jkt: prover.thumbprint, kid: 'k' }])
      await expectRefused(await present(await assertion({ cnf })), 'invalid_grant');
  });
});

describe('where only bound tokens are taken', () => {
  const [files, open] = ['https://files.example.com/mcp', 'https://open.example.com/mcp'];
  const scopes = { 'notes:read': 'Read', 'notes:write': 'Write' };
  const types = 'urn:ietf:params:oauth:token-type';

  async function startStrict(): Promise<EnterpriseSetUp> {
    const probe = await startGatehouse();
    await probe.stop();
    const strict = await trustIdentityProvider(undefined, {
      port: Number(new URL(probe.url).port),
      tokens: { dpop: { required: true } },
      resources: [
        { resource: files, name: 'Files', scopes },
        { resource: open, name: 'Open', scopes, dpopRequired: false },
      ],
      tokenExchange: [{ clientId: 'notes', from: probe.mcpUrl, to: [files, open] }],
      clients: [clientWithSecret('notes', { grantTypes: [tokenExchange] })],
    });
    onTestFinished(() => strict.gatehouse.stop());
    return strict;
  }

  it('an assertion and an exchange get no bearer token for a listed resource either (FA-16, T-216)', async () => {
    const strict = await startStrict();
    const url = `${strict.gatehouse.url}/token`;
    const prover = await createProver();
    const send = (fields: Record<string, string>, client: string, dpop?: string) =>
      post(url, fields, { ...basic(client), ...(dpop === undefined ? {} : { dpop }) });

    const jwt = await strict.assertion({ resource: files });
    await expectRefused(await strict.present(jwt), 'invalid_dpop_proof');
    const proven = await expectTokens(await presentProven(jwt, await prover.prove({ url }), strict));
    expect(proven.token_type).toBe('DPoP');

    const held = await presentProven(await strict.assertion(), await prover.prove({ url }), strict);
    const exchange = {
      grant_type: tokenExchange,
      subject_token: (await expectTokens(held)).access_token,
      subject_token_type: `${types}:access_token`,
      resource: files,
    };
    await expectRefused(await send(exchange, 'notes'), 'invalid_dpop_proof');
    const exchanged = await expectTokens(await send(exchange, 'notes', await prover.prove({ url })));
    expect(exchanged.token_type).toBe('DPoP');
    const elsewhere = await expectTokens(await send({ ...exchange, resource: open }, 'notes'));
    expect(elsewhere.token_type).toBe('Bearer');
  });
});
