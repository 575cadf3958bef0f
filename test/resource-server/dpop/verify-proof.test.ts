import { SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDpopNonces, createUsedProofs } from '../../../src/resource-server/dpop/proof-checks.ts';
import { type DpopPolicy, verifyProof } from '../../../src/resource-server/dpop/verify-proof.ts';
import { createProver, type Prover } from '../../support/proofs.ts';

const publicOrigin = 'https://mcp.example.com';
const url = `${publicOrigin}/mcp`;
const accessToken = 'token';
const now = (): number => Math.floor(Date.now() / 1000);

let prover: Prover;
beforeAll(async () => {
  prover = await createProver();
});

function setUp(chosen: Partial<DpopPolicy> = {}) {
  const nonces = createDpopNonces(() => ['key'], now);
  const policy: DpopPolicy = {
    publicOrigin,
    nonces,
    usedProofs: createUsedProofs(now),
    requireNonce: false,
    required: false,
    now,
    ...chosen,
  };
  const verify = (proofs: string[], target = '/mcp', method = 'POST') =>
    verifyProof({ method, target, proofs }, { accessToken, keyThumbprint: prover.thumbprint }, policy);
  return { nonces, verify };
}

describe('a request with a token that is bound to a key', () => {
  it('passes with a proof of that key, and is told the nonce to use next (A13-09)', async () => {
    const { verify, nonces } = setUp();
    expect(await verify([await prover.prove({ url, accessToken })])).toEqual({ nextNonce: nonces.current() });
  });

  it('passes with the nonce of now, and is told no other (A13-09)', async () => {
    const { verify, nonces } = setUp({ requireNonce: true });
    expect(await verify([await prover.prove({ url, accessToken, nonce: nonces.current() })])).toEqual({});
  });

  it('passes with an Ed25519 key, and with a query the proof does not name (A13-09)', async () => {
    const other = await createProver('Ed25519');
    const { nonces } = setUp();
    const policy = { publicOrigin, nonces, requireNonce: false, required: false, now };
    const verdict = await verifyProof(
      { method: 'GET', target: '/mcp?x=1', proofs: [await other.prove({ url, accessToken, method: 'GET' })] },
      { accessToken, keyThumbprint: other.thumbprint },
      { ...policy, usedProofs: createUsedProofs(now) },
    );
    expect(verdict.fault).toBeUndefined();
  });

  it('is told the nonce where it lacks one that is asked for (A13-09)', async () => {
    const { verify, nonces } = setUp({ requireNonce: true });
    expect(await verify([await prover.prove({ url, accessToken })])).toEqual({
      fault: 'no_nonce',
      nextNonce: nonces.current(),
    });
  });

  it('passes once more if another server of the installation has recorded its proof, and with no other fault (A13-09)', async () => {
    const { nonces } = setUp();
    const usedProofs = createUsedProofs(now);
    const policy = { publicOrigin, nonces, requireNonce: false, required: false, usedProofs, now };
    const key = { accessToken, keyThumbprint: prover.thumbprint };
    const proofs = [await prover.prove({ url, accessToken })];
    const request = { method: 'POST', target: '/mcp', proofs };
    expect((await verifyProof(request, key, policy)).fault).toBeUndefined();
    expect((await verifyProof(request, key, policy)).fault).toBe('used_before');
    const recorded = { ...request, isRecorded: true };
    expect((await verifyProof(recorded, key, policy)).fault).toBeUndefined();
    expect((await verifyProof({ ...recorded, method: 'GET' }, key, policy)).fault).toBeDefined();
    expect((await verifyProof({ ...recorded, proofs: [] }, key, policy)).fault).toBe('no_proof');
  });

  it('passes with one proof once, also of many at the same time (A13-09)', async () => {
    const { verify } = setUp();
    const proof = await prover.prove({ url, accessToken });
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => verify([proof])));
    expect(verdicts.filter(({ fault }) => fault === undefined)).toHaveLength(1);
    expect(verdicts.filter(({ fault }) => fault === 'used_before')).toHaveLength(19);
  });

  it('does not use a proof up that is refused for another reason', async () => {
    const { verify } = setUp();
    const proof = await prover.prove({ url, accessToken });
    expect((await verify([proof], '/rest')).fault).toBe('other_url');
    expect((await verify([proof])).fault).toBeUndefined();
  });

  it.each([
    ['none', async () => [], 'no_proof'],
    ['an empty one', async () => [''], 'no_proof'],
    ['two', async () => [await prove(), await prove()], 'several_proofs'],
    ['two in one header', async () => [`${await prove()}, ${await prove()}`], 'several_proofs'],
    ['one that is no JWT', async () => ['x.y.z'], 'no_jwt'],
    ['one without end', async () => [`${await prove()}${'a'.repeat(9000)}`], 'too_long'],
    ['one whose signature was changed', async () => [spoil(await prove())], 'bad_signature'],
    [
      'one of another key',
      async () => [await (await createProver()).prove({ url, accessToken })],
      'other_key',
    ],
    [
      'one that shows another key than it is signed with',
      async () => [await foreignSignature()],
      'bad_signature',
    ],
    [
      'one that shows a private key',
      async () => [await prove({ header: { jwk: prover.privateJwk } })],
      'no_public_key',
    ],
    ['one for another token', async () => [await prove({ accessToken: 'other' })], 'other_token'],
    ['one for the token endpoint', async () => [await prove({ url: `${publicOrigin}/token` })], 'other_url'],
  ])('is refused with %s for a proof (A13-09, T-098)', async (_what, make, fault) => {
    const { verify } = setUp();
    expect((await verify(await make())).fault).toBe(fault);
  });
});

const prove = (chosen: Partial<Parameters<Prover['prove']>[0]> = {}): Promise<string> =>
  prover.prove({ url, accessToken, ...chosen });

function spoil(jwt: string): string {
  const at = jwt.lastIndexOf('.') + 5;
  return `${jwt.slice(0, at)}${jwt[at] === 'A' ? 'B' : 'A'}${jwt.slice(at + 1)}`;
}

/** A proof that shows the key of the token and is signed with another: what a thief could make. */
async function foreignSignature(): Promise<string> {
  const { privateJwk } = await createProver();
  return new SignJWT({})
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: prover.publicJwk })
    .sign({ ...privateJwk, alg: 'ES256' } as Parameters<SignJWT['sign']>[0]);
}
