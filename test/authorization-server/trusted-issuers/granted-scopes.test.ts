import { describe, expect, it } from 'vitest';
import { grantScopes } from '../../../src/authorization-server/trusted-issuers/granted-scopes.ts';

const resource = {
  resource: 'https://a.example/mcp',
  name: 'A',
  scopes: { read: 'Read', write: 'Write', admin: 'Rule' },
  baselineScopes: ['read'],
};
const give = (
  asked: string | undefined,
  limits: (string[] | undefined)[],
  excess: 'dropped' | 'refused' = 'dropped',
) => grantScopes({ resource, asked, limits, fallback: resource.baselineScopes, excess });

describe('the scopes of a token that nobody is asked about', () => {
  it('are those asked for, as far as every limit goes (T-063)', () => {
    expect(give('read write admin', [['read', 'write'], undefined, ['write', 'admin']])).toEqual(['write']);
    expect(give('write', [undefined])).toEqual(['write']);
    expect(give('openid write offline_access other', [])).toEqual(['write']);
  });

  it('are the usual ones where none are asked for, as far as every limit goes', () => {
    expect(give(undefined, [])).toEqual(['read']);
    expect(give('offline_access', [['read', 'write']])).toEqual(['read']);
    expect(() => give(undefined, [['write']])).toThrow(expect.objectContaining({ error: 'invalid_scope' }));
  });

  it('are none where too much is asked for and that is refused, or nothing is left', () => {
    expect(() => give('read write', [['read']], 'refused')).toThrow(
      expect.objectContaining({ error: 'invalid_scope', scope: 'write' }),
    );
    expect(give('read offline_access', [['read']], 'refused')).toEqual(['read']);
    expect(() => give('constructor', [])).toThrow(expect.objectContaining({ error: 'invalid_scope' }));
  });
});
