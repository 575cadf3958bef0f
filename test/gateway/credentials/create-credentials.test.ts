import { describe, expect, it, vi } from 'vitest';
import {
  checkFits,
  createCredentials,
  placeValue,
  type ValueSource,
} from '../../../src/gateway/credentials/create-credentials.ts';
import type { CredentialOwner } from '../../../src/gateway/credentials/credentials.ts';
import type { AuthInfo } from '../../../src/oauth/auth-info.ts';

const caller = (subject: string): AuthInfo => ({
  issuer: 'https://gate.example',
  subject,
  clientId: 'client',
  scopes: [],
  audience: 'https://gate.example/notes/mcp',
  expiresAt: 2_000_000_000,
});

const missing = { code: -32001, message: 'Enter it.' };

/** The values of accounts, of which everyone who listens is told. */
function values(known: Record<string, string>): ValueSource & { change(account: CredentialOwner): void } {
  const listeners = new Set<(account: CredentialOwner) => void>();
  return {
    async find({ subject }) {
      const value = known[subject];
      return value === undefined ? { error: missing } : { value };
    },
    refused: async ({ subject }) => (subject in known ? 'renewed' : { error: missing }),
    onChange(tell) {
      listeners.add(tell);
      return () => void listeners.delete(tell);
    },
    change: (account) => {
      for (const tell of listeners) tell(account);
    },
  };
}

describe('the credentials of a backend', () => {
  it('are each caller’s own, beside what is the same for everybody (T-158)', async () => {
    const source = createCredentials([
      { as: { header: 'x-app' }, value: 'of-all' },
      { as: { header: 'authorization', prefix: 'Bearer ' }, value: values({ anna: 'a-key', bo: 'b-key' }) },
      { as: { auth: 'KEY' }, value: values({ anna: 'a-auth', bo: 'b-auth' }) },
    ]);
    const [anna, bo] = await Promise.all([source.find(caller('anna')), source.find(caller('bo'))]);
    expect(anna).toEqual({
      headers: { 'x-app': 'of-all', authorization: 'Bearer a-key' },
      auth: { KEY: 'a-auth' },
    });
    expect(bo).toEqual({
      headers: { 'x-app': 'of-all', authorization: 'Bearer b-key' },
      auth: { KEY: 'b-auth' },
    });
  });

  it('are none at all where one is missing: the caller gets the error that says where to enter it', async () => {
    const source = createCredentials([
      { as: { env: 'A' }, value: values({ bo: 'b' }) },
      { as: { env: 'B' }, value: values({ anna: 'a', bo: 'b' }) },
    ]);
    expect(await source.find(caller('anna'))).toEqual({ error: missing });
    expect(await source.find(caller('bo'))).toEqual({ env: { A: 'b', B: 'b' } });
  });

  it('tell of each change to who listens, and to nobody who has stopped', () => {
    const [first, second] = [values({}), values({})];
    const source = createCredentials([
      { as: { env: 'A' }, value: first },
      { as: { env: 'B' }, value: second },
    ]);
    const tell = vi.fn();
    const stop = source.onChange(tell);
    const account = { issuer: 'https://gate.example', subject: 'anna' };
    first.change(account);
    second.change(account);
    expect(tell.mock.calls).toEqual([[account], [account]]);
    stop();
    first.change(account);
    expect(tell).toHaveBeenCalledTimes(2);
  });

  it('that the backend does not accept are renewed where any can be; else the first says what to give', async () => {
    const [as, nobodys] = [{ header: 'x-a' }, { error: { code: -32001, message: 'Another.' } }];
    const source = createCredentials([
      { as, value: { ...values({}), refused: async () => nobodys } },
      { as, value: values({ anna: 'a' }) },
    ]);
    expect(await source.refused(caller('anna'), 0)).toBe('renewed');
    expect(await source.refused(caller('bo'), 0)).toBe(nobodys);
    const ofAll = createCredentials([{ as, value: 'of-all' }]);
    expect(await ofAll.refused(caller('anna'), 0)).toBeUndefined();
  });
});

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
