import { expect, it } from 'vitest';
import { grantedScopes } from '../../../src/authorization-server/engine/granted-scopes.ts';

it('a grant gives scopes by resource, and at one that was asked about in vain what needs none', () => {
  expect(grantedScopes({})).toEqual({});
  expect(
    grantedScopes({
      resources: { 'https://a.example/mcp': 'read write' },
      rejected: { resources: { 'https://a.example/mcp': 'admin', 'https://b.example/mcp': 'read' } },
    }),
  ).toEqual({ 'https://a.example/mcp': ['read', 'write'], 'https://b.example/mcp': [] });
});
