import { describe, expect, it } from 'vitest';
import {
  createPendingLogins,
  passwordDigest,
} from '../../../src/authorization-server/authentication/authentication.ts';
import { createSealedBox } from '../../../src/crypto/sealed-box.ts';

const box = createSealedBox([{ id: 'k', key: Buffer.alloc(32, 1).toString('base64url') }]);
const ada = { id: 'ada', email: 'ada@example.com', passwordHash: 'hash', createdAt: 1 };

describe('a half-done login', () => {
  it('says whose password was right, without the password hash', () => {
    const pending = createPendingLogins(box, () => 1000);
    const sealed = pending.seal(ada, 'page');
    expect(pending.open(sealed, 'page')).toEqual({ accountId: 'ada', passwordDigest: passwordDigest(ada) });
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('ada');
    expect(passwordDigest(ada)).not.toBe(passwordDigest({ passwordHash: 'another' }));
  });

  it('opens for no other page, and for nothing that we did not seal', () => {
    const pending = createPendingLogins(box, () => 1000);
    const sealed = pending.seal(ada, 'page');
    expect(pending.open(sealed, 'another page')).toBeUndefined();
    for (const wrong of ['', 'x', sealed.slice(2), `${sealed}AAAA`])
      expect(pending.open(wrong, 'page')).toBeUndefined();
  });

  it('ends after five minutes', () => {
    let now = 1000;
    const pending = createPendingLogins(box, () => now);
    const sealed = pending.seal(ada, 'page');
    now = 1299;
    expect(pending.open(sealed, 'page')).toBeDefined();
    now = 1300;
    expect(pending.open(sealed, 'page')).toBeUndefined();
  });
});
