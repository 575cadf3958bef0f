import { describe, expect, it } from 'vitest';
import {
  checkProofClaims,
  checkProofHeader,
  createDpopNonces,
  createUsedProofs,
  hashAccessToken,
  nonceLifeSeconds,
  type ProofExpectation,
} from '../../../src/resource-server/dpop/proof-checks.ts';

const now = 1_800_000_000;
const url = 'https://mcp.example.com/mcp';
const expected: ProofExpectation = {
  method: 'POST',
  url,
  accessToken: 'token',
  nonces: { current: () => 'fresh', accepts: (nonce) => nonce === 'fresh' || nonce === 'older' },
  requireNonce: false,
  nowSeconds: now,
};
const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' } };
const claims = { htm: 'POST', htu: url, jti: 'id', iat: now, ath: hashAccessToken('token') };

describe('the header of a proof', () => {
  it('passes as honest clients write it', () => {
    expect(checkProofHeader(header)).toBeUndefined();
    expect(
      checkProofHeader({ ...header, alg: 'Ed25519', jwk: { kty: 'OKP', crv: 'Ed25519', x: 'x' } }),
    ).toBeUndefined();
  });

  it.each([
    ['another typ', { typ: 'at+jwt' }, 'wrong_type'],
    ['no typ', { typ: undefined }, 'wrong_type'],
    ['alg none', { alg: 'none' }, 'algorithm_not_allowed'],
    ['a shared secret', { alg: 'HS256' }, 'algorithm_not_allowed'],
    ['an algorithm that is not on the list', { alg: 'RS256' }, 'algorithm_not_allowed'],
    ['an extension we must know', { crit: ['b64'] }, 'critical_extension'],
    ['no key', { jwk: undefined }, 'no_public_key'],
    ['a key that is text', { jwk: 'key' }, 'no_public_key'],
    ['a private key', { jwk: { ...header.jwk, d: 'd' } }, 'no_public_key'],
    ['a symmetric key', { jwk: { kty: 'oct', k: 'k' } }, 'no_public_key'],
  ])('fails with %s (A13-09, T-098)', (_what, chosen, fault) => {
    expect(checkProofHeader({ ...header, ...chosen } as typeof header)).toBe(fault);
  });
});

describe('what a proof says', () => {
  it.each([
    ['as honest clients write it', {}],
    ['with query and fragment on its URL', { htu: `${url}?a=b#c` }],
    ['with its URL in another spelling', { htu: 'HTTPS://MCP.example.com:443/mcp' }],
    ['of a clock a minute behind', { iat: now - 60 }],
    ['of a clock a minute ahead', { iat: now + 60 }],
    ['with an older nonce of ours, whatever its clock says', { nonce: 'older', iat: now - 5000 }],
  ])('passes %s (A13-09)', (_what, chosen) => {
    expect(checkProofClaims({ ...claims, ...chosen }, expected)).toBeUndefined();
  });

  it.each([
    ['another method', { htm: 'GET' }, 'other_method'],
    ['the method in another case', { htm: 'post' }, 'other_method'],
    ['another path', { htu: `${url}/x` }, 'other_url'],
    ['another host', { htu: 'https://evil.example/mcp' }, 'other_url'],
    ['another scheme', { htu: 'http://mcp.example.com/mcp' }, 'other_url'],
    ['a path alone', { htu: '/mcp' }, 'other_url'],
    ['no URL', { htu: undefined }, 'other_url'],
    ['a list of URLs', { htu: [url] }, 'other_url'],
    ['no id', { jti: undefined }, 'no_id'],
    ['an empty id', { jti: '' }, 'no_id'],
    ['a very long id', { jti: 'a'.repeat(257) }, 'no_id'],
    ['an id that is a number', { jti: 1 }, 'no_id'],
    ['no time', { iat: undefined }, 'no_time'],
    ['a time that is text', { iat: String(now) }, 'no_time'],
    ['the hash of another token', { ath: hashAccessToken('other') }, 'other_token'],
    ['no hash of the token', { ath: undefined }, 'other_token'],
    ['a time too long ago', { iat: now - 61 }, 'not_recent'],
    ['a time too far ahead', { iat: now + 61 }, 'not_recent'],
    ['a nonce of somebody else', { nonce: 'foreign' }, 'stale_nonce'],
    ['a nonce that is a number', { nonce: 7 }, 'stale_nonce'],
    ['an empty nonce', { nonce: '' }, 'stale_nonce'],
  ])('fails with %s (A13-09, T-097)', (_what, chosen, fault) => {
    expect(checkProofClaims({ ...claims, ...chosen }, expected)).toBe(fault);
  });

  it('fails without a nonce where one is asked for (A13-09)', () => {
    expect(checkProofClaims(claims, { ...expected, requireNonce: true })).toBe('no_nonce');
    expect(
      checkProofClaims({ ...claims, nonce: 'fresh' }, { ...expected, requireNonce: true }),
    ).toBeUndefined();
  });
});

const start = 1_800_000_000;

describe('nonces for proofs', () => {
  it('are known to every process with the key, and to none with another (A13-09)', () => {
    const [one, same, other] = ['key', 'key', 'other'].map((key) =>
      createDpopNonces(
        () => [key],
        () => start,
      ),
    );
    expect(same?.accepts(one?.current() ?? '')).toBe(true);
    expect(other?.accepts(one?.current() ?? '')).toBe(false);
  });

  it('change by the minute, and are accepted some minutes more, never before their time (A13-09)', () => {
    let now = start;
    const nonces = createDpopNonces(
      () => ['key'],
      () => now,
    );
    const first = nonces.current();
    now = start + 59;
    expect(nonces.current()).toBe(first);
    now = start + 60;
    const second = nonces.current();
    expect(second).not.toBe(first);
    expect(nonces.accepts(first)).toBe(true);
    now = start + nonceLifeSeconds - 1;
    expect(nonces.accepts(first)).toBe(true);
    now = start + nonceLifeSeconds;
    expect(nonces.accepts(first)).toBe(false);
    now = start;
    expect(nonces.accepts(second)).toBe(false);
  });

  it('outlive the rotation of their key, as long as it is kept (A13-09)', () => {
    let keys = ['old'];
    const nonces = createDpopNonces(
      () => keys,
      () => start,
    );
    const given = nonces.current();
    keys = ['new', 'old'];
    expect(nonces.current()).not.toBe(given);
    expect(nonces.accepts(given)).toBe(true);
    keys = ['new'];
    expect(nonces.accepts(given)).toBe(false);
  });

  it.each(['', 'x', '0'.repeat(43), 'ä'.repeat(43)])('do not include %j', (nonce) => {
    expect(
      createDpopNonces(
        () => ['key'],
        () => start,
      ).accepts(nonce),
    ).toBe(false);
  });
});

describe('the memory of used proofs', () => {
  it('takes each once, until it could not be good again anyway (A13-09)', async () => {
    let now = 100;
    const memory = createUsedProofs(() => now);
    expect(await memory.useOnce('a', 160)).toBe(true);
    expect(await memory.useOnce('a', 160)).toBe(false);
    expect(await memory.useOnce('b', 160)).toBe(true);
    now = 160;
    expect(await memory.useOnce('a', 220)).toBe(true);
  });

  it('tells one of many who ask at once (A13-09)', async () => {
    const memory = createUsedProofs(() => 100);
    const told = await Promise.all(Array.from({ length: 50 }, () => memory.useOnce('a', 160)));
    expect(told.filter(Boolean)).toHaveLength(1);
  });

  it('is bounded: if it is full, it rejects proofs rather than forget some that could be repeated (A13-09)', async () => {
    let now = 100;
    const memory = createUsedProofs(() => now, 2);
    await memory.useOnce('a', 160);
    await memory.useOnce('b', 160);
    expect(await memory.useOnce('c', 160)).toBe(false);
    expect(await memory.useOnce('a', 160)).toBe(false);
    now = 160;
    expect(await memory.useOnce('c', 220)).toBe(true);
  });
});
