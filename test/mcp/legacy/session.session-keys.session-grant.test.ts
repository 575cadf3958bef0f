import { describe, expect, it } from 'vitest';
import { grantHashOf, hashGrant } from '../../../src/mcp/legacy/session.ts';

const caller = {
  issuer: 'https://mcp.example.com',
  subject: 'ada',
  clientId: 'app',
  scopes: [],
  audience: 'https://mcp.example.com/mcp',
  expiresAt: 1,
};

describe('the grant of a session', () => {
  it('is kept as a hash, which differs from grant to grant', () => {
    expect(hashGrant('one')).not.toContain('one');
    expect(hashGrant('one')).not.toBe(hashGrant('two'));
  });

  it('is that of the caller, again and again', () => {
    const frozen = Object.freeze({ ...caller, grantId: 'one' });
    expect([grantHashOf(frozen), grantHashOf(frozen)]).toEqual([hashGrant('one'), hashGrant('one')]);
    expect(grantHashOf({ ...caller, grantId: 'two' })).toBe(hashGrant('two'));
  });

  it('of a caller who changes is looked at each time', () => {
    const changing = { ...caller, grantId: 'one' };
    grantHashOf(changing);
    changing.grantId = 'two';
    expect(grantHashOf(changing)).toBe(hashGrant('two'));
  });

  it('is none where a client acts for itself', () => {
    expect(grantHashOf(caller)).toBeNull();
  });
});
