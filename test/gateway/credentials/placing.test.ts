import { describe, expect, it } from 'vitest';
import { checkFits, placeValue } from '../../../src/gateway/credentials/placing.ts';

describe('a credential in its place', () => {
  it('is a header with its prefix, a variable, or a member of _meta.auth, beside what is there', () => {
    const header = placeValue({ env: { A: 'a' } }, { header: 'Authorization', prefix: 'Bearer ' }, 'k');
    expect(header).toEqual({ env: { A: 'a' }, headers: { authorization: 'Bearer k' } });
    expect(placeValue(header, { env: 'B' }, 'b').env).toEqual({ A: 'a', B: 'b' });
    expect(placeValue({ auth: { x: 1 } }, { auth: 'NOTION_TOKEN' }, 'n')).toEqual({
      auth: { x: 1, NOTION_TOKEN: 'n' },
    });
  });

  it.each(['$\u007bSECRET}', '$PATH', '%PATH%', '$(id)'])('is taken as it is: %s (T-153)', (value) => {
    expect(placeValue({}, { header: 'x-key' }, value)).toEqual({ headers: { 'x-key': value } });
    expect(placeValue({}, { env: 'KEY' }, value)).toEqual({ env: { KEY: value } });
    expect(placeValue({}, { auth: 'KEY' }, value)).toEqual({ auth: { KEY: value } });
  });

  it.each(['a\r\nx-admin: 1', 'a\nb', 'a\0b', 'a\tb', 'a\x7fb', 'a\u0085b'])(
    'is refused for a header with a line break or control character: %j',
    (value) => {
      expect(checkFits({ header: 'x-key' }, value)).toBe('control_characters');
    },
  );

  it('is refused where it is empty, where a header would not carry it, and where a process would not', () => {
    expect(checkFits({ header: 'x-key' }, 'käse')).toBe('not_ascii');
    expect(checkFits({ env: 'KEY' }, 'a\0b')).toBe('control_characters');
    for (const place of [{ header: 'x-key' }, { env: 'KEY' }, { auth: 'KEY' }])
      expect(checkFits(place, '')).toBe('empty');
  });

  it('may have lines in a variable, as keys in PEM do', () => {
    expect(checkFits({ env: 'KEY' }, '-----BEGIN KEY-----\nä\r\n')).toBeUndefined();
    expect(checkFits({ header: 'x-key' }, 'ntn_abc 123~')).toBeUndefined();
  });
});
