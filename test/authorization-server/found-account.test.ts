import { describe, expect, it } from 'vitest';
import { createAccount, isEmailAddress, linkAccount } from '../../src/authorization-server/found-account.ts';
import { isUnknownPassword } from '../../src/crypto/password.ts';

const identity = { issuer: 'https://idp.example', subject: '7' };

describe('the account of an identity', () => {
  it('that is made has a password nobody knows, and is linked behind it', () => {
    const { account, by, changes } = createAccount('lin@work.example', identity, 1_000);
    expect(by).toBe('created');
    expect(account).toMatchObject({ email: 'lin@work.example', createdAt: 1_000 });
    expect(isUnknownPassword(account.passwordHash)).toBe(true);
    expect(changes).toEqual([
      { type: 'addAccount', account },
      { type: 'linkIdentity', ...identity, accountId: account.id, at: 1_000 },
    ]);
    expect(createAccount('lin@work.example', identity, 1_000).account.id).not.toBe(account.id);
  });

  it('that is there is linked, and nothing else', () => {
    const { account } = createAccount('lin@work.example', identity, 1_000);
    expect(linkAccount(account, identity, 2_000)).toEqual({
      account,
      by: 'linked',
      changes: [{ type: 'linkIdentity', ...identity, accountId: account.id, at: 2_000 }],
    });
  });

  it('has one address that prints, and no other (T-190)', () => {
    expect(isEmailAddress('lin@work.example')).toBe(true);
    for (const text of ['', 'lin', 'a@b@c', 'a b@c', 'a@c\u202e', `${'a'.repeat(65)}@c`])
      expect(isEmailAddress(text), text).toBe(false);
  });
});
