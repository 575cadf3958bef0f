import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { claimFaults, compareAudience, readClaims } from '../../../src/doctor/token/claims.ts';

const issuer = 'https://as.example';
const now = 1_800_000_000;
const sound = { header: { alg: 'ES256', typ: 'at+jwt' }, payload: { iss: issuer, exp: now + 60 } };

describe('an access token', () => {
  it('is read where it is a JWT, and opaque otherwise', async () => {
    const token = await new SignJWT({ scope: 'a' })
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
      .sign(new Uint8Array(32));
    expect(readClaims(token)).toEqual({ header: { alg: 'HS256', typ: 'at+jwt' }, payload: { scope: 'a' } });
    expect(readClaims('opaque')).toBeUndefined();
    expect(readClaims('a.b.c')).toBeUndefined();
  });

  it.each([
    ['https://a.example/mcp', 'same'],
    [['x', 'https://a.example/mcp'], 'same'],
    ['https://A.example/mcp/', 'alike'],
    ['https://a.example', 'other'],
    [undefined, 'other'],
  ] as const)('with aud %j is for the resource: %s', (aud, verdict) => {
    expect(compareAudience(aud === undefined ? aud : [aud].flat(), 'https://a.example/mcp')).toBe(verdict);
  });

  it('has no fault with the issuer, an algorithm and an end ahead', () => {
    expect(claimFaults(sound, { issuer, now })).toEqual([]);
  });

  it.each([
    [{ ...sound, header: { alg: 'none' } }, /alg is "none"/],
    [{ ...sound, payload: { ...sound.payload, iss: `${issuer}/` } }, /iss is "https:\/\/as\.example\/"/],
    [{ ...sound, payload: { iss: issuer } }, /exp is missing/],
    [{ ...sound, payload: { ...sound.payload, exp: now - 5 } }, /exp is 5 seconds ago/],
    [{ ...sound, payload: { ...sound.payload, nbf: now + 94 } }, /nbf is 94 seconds ahead/],
  ])('has one fault', (claims, fault) => {
    const faults = claimFaults(claims, { issuer, now });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(fault);
  });
});
