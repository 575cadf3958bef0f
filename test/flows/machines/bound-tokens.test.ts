import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { post, tryAccess } from '../../support/oauth.ts';
import { createProver, provenHeaders } from '../../support/proofs.ts';
import { expectRefused, expectTokens } from '../token/subject.ts';
import { basic, type EnterpriseSetUp, jwtBearer, trustIdentityProvider } from './subject.ts';

// Over src/authorization-server/engine/oidc-provider-grants.d.ts: the engine checks proofs for grants of ours as for its own.

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
});
