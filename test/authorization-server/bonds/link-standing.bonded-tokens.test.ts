import { expect, it } from 'vitest';
import type {
  IssuedAccessToken,
  IssuedAccessTokens,
} from '../../../src/authorization-server/access-tokens.ts';
import { honourBonds, type LinkWord } from '../../../src/authorization-server/bonds/link-standing.ts';

const unbound: IssuedAccessToken = {
  clientId: 'client',
  subject: 'ada',
  scopes: [],
  audience: 'https://gate.example/mcp',
  issuedAt: 1,
  expiresAt: 2,
  tokenId: 'id',
};
const bound = { ...unbound, bond: { sessionId: 'session', linkId: 'link' } };

function honouring(issued: IssuedAccessToken, word: LinkWord) {
  const asked: string[] = [];
  const tokens: IssuedAccessTokens = {
    find: async () => issued,
    standing: async () => [],
    revocationMark: async () => 1,
  };
  const standing = {
    check(linkId: string) {
      asked.push(linkId);
      return word;
    },
    retryAfterSeconds: () => 1,
  };
  return { asked, tokens: honourBonds(tokens, standing) };
}

it('a token is found as the same object while the login it hangs on stands (A10-02)', async () => {
  const { tokens, asked } = honouring(bound, 'stands');
  expect(await tokens.find('token')).toBe(bound);
  expect(asked).toEqual(['link']);
});

it('a token is none when the login it hangs on has ended, and nobody can tell while it is unavailable', async () => {
  expect(await honouring(bound, 'ended').tokens.find('token')).toBeUndefined();
  await expect(honouring(bound, 'unavailable').tokens.find('token')).rejects.toThrow(/identity provider/);
});

it('nobody is asked about a token that hangs on nothing', async () => {
  const { tokens, asked } = honouring(unbound, 'ended');
  expect(await tokens.find('token')).toBe(unbound);
  expect(asked).toEqual([]);
});
