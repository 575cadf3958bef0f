import { describe, expect, it } from 'vitest';
import { checkKeys } from '../../../src/upstream/examination/key-check.ts';

describe('the keys of an upstream', () => {
  it('pass where one at least is for signatures', () => {
    const keys = [
      { kty: 'RSA', use: 'sig', kid: 'a' },
      { kty: 'EC', kid: 'b' },
      { kty: 'RSA', use: 'enc' },
    ];
    expect(checkKeys({ keys })).toEqual({
      id: 'UP-KEYS',
      verdict: 'pass',
      saw: '2 keys verify ID tokens.',
    });
  });

  it.each([
    [undefined],
    [null],
    ['keys'],
    [{}],
    [{ keys: [] }],
    [{ keys: {} }],
    [{ keys: [{ kty: 'RSA', use: 'enc' }] }],
  ])('fail as %j', (published) => {
    expect(checkKeys(published)).toMatchObject({ verdict: 'fail', fix: expect.any(String) });
  });

  it('with private members are dangerous, and the key is not shown', () => {
    const finding = checkKeys({ keys: [{ kty: 'RSA', d: 'planted-secret' }] });
    expect(finding).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('anybody can sign') });
    expect(JSON.stringify(finding)).not.toContain('planted-secret');
  });
});
