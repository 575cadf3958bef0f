import { describe, expect, it } from 'vitest';
import { createAccessTokenSource } from '../../src/authorization-server/access-tokens.ts';
import { startOfTime } from '../storage/contract/subject.ts';
import { startAdapters } from './storage-subject.ts';

describe('the source of access tokens', () => {
  it('gives what was issued under a value, expired or not, until its grant ends (T-103)', async () => {
    const { storage, box, adapter } = await startAdapters();
    const source = createAccessTokenSource(storage.artifacts, box);
    await adapter('Grant').upsert('g', { accountId: 'ada', clientId: 'c' }, 60);
    const payload = {
      clientId: 'c',
      accountId: 'ada',
      scope: 'notes:read notes:write',
      aud: 'https://x.example/mcp',
      iat: startOfTime - 100,
      exp: startOfTime - 1,
      grantId: 'g',
    };
    await adapter('AccessToken').upsert('value', payload, 0);
    expect(await source.find('value')).toEqual({
      clientId: 'c',
      subject: 'ada',
      scopes: ['notes:read', 'notes:write'],
      audience: 'https://x.example/mcp',
      issuedAt: startOfTime - 100,
      expiresAt: startOfTime - 1,
      grantId: 'g',
    });
    await adapter('Grant').destroy('g');
    expect(await source.find('value')).toBeUndefined();
  });

  it('knows no refresh token, no code and no made-up value (T-041)', async () => {
    const { storage, box, adapter } = await startAdapters();
    const source = createAccessTokenSource(storage.artifacts, box);
    await adapter('RefreshToken').upsert('value', { scope: 'notes:read' }, 60);
    await adapter('AuthorizationCode').upsert('value', { scope: 'notes:read' }, 60);
    for (const value of ['value', '', 'x'.repeat(10_000), "' OR 1=1 --"])
      expect(await source.find(value)).toBeUndefined();
  });
});
