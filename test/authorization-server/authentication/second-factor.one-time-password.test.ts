import { describe, expect, it } from 'vitest';
import {
  findTimeStep,
  makeOneTimeSecret,
  oneTimeKeyUri,
} from '../../../src/authorization-server/authentication/second-factor.ts';

/** The secret of RFC 6238 appendix B, `12345678901234567890`, base32. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('a one-time code', () => {
  it.each([
    [59, '287082', 1],
    [1_111_111_109, '081804', 37_037_036],
    [1_234_567_890, '005924', 41_152_263],
    [2_000_000_000, '279037', 66_666_666],
  ])('at %i is that of RFC 6238 appendix B', (now, code, step) => {
    expect(findTimeStep(secret, code, now)).toBe(step);
    expect(findTimeStep(secret, `${code.slice(0, 3)} ${code.slice(3)}`, now)).toBe(step);
  });

  it('counts one step early and one late, and says which step it is of', () => {
    for (const now of [30, 59, 60, 89]) expect(findTimeStep(secret, '287082', now)).toBe(1);
    expect(findTimeStep(secret, '287082', 0)).toBe(1);
    expect(findTimeStep(secret, '287082', 90)).toBeUndefined();
  });

  it.each(['', '28708', '2870822', 'abcdef', '２８７０８２', '-87082', '0x1234', '287082\n287082'])(
    'is not %j',
    (code) => {
      expect(findTimeStep(secret, code, 59)).toBeUndefined();
    },
  );

  it('is made from 160 random bits, which an app is told in a URI', () => {
    const [one, two] = [makeOneTimeSecret(), makeOneTimeSecret()];
    expect(one).toMatch(/^[A-Z2-7]{32}$/);
    expect(one).not.toBe(two);
    const uri = new URL(oneTimeKeyUri(one, 'ada&b@example.com', 'mcp.example.com'));
    expect(uri.protocol).toBe('otpauth:');
    expect(uri.searchParams.get('secret')).toBe(one);
    expect(decodeURIComponent(uri.pathname)).toContain('ada&b@example.com');
    expect(uri.searchParams.get('issuer')).toBe('mcp.example.com');
  });
});
