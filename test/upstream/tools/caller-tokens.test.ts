import { describe, expect, it } from 'vitest';
import type { UpstreamLinkRow } from '../../../src/storage/upstreams.ts';
import type { CallerToken, LinkStatus } from '../../../src/upstream/links/link-status.ts';
import { createCallerTokens } from '../../../src/upstream/tools/caller-tokens.ts';

const row = {
  id: 'link-1',
  accountId: 'ann',
  upstream: 'work',
  tokens: new Uint8Array([1]),
} as UpstreamLinkRow;
const token: CallerToken = { accessToken: 'at-1', scopes: ['openid', 'files:read'], generation: 3 };

/** The tokens over one link, with what its standing says of it. */
function tokensOver(
  link: UpstreamLinkRow | undefined,
  standing: Awaited<ReturnType<LinkStatus['tokensOf']>> = token,
) {
  const wanted: unknown[] = [];
  const asked: unknown[] = [];
  const tokens = createCallerTokens({
    links: {
      findOfAccount: async (accountId, upstream) =>
        accountId === link?.accountId && upstream === link.upstream ? link : undefined,
      wantScopes: async (...given) => void wanted.push(given),
    },
    standing: {
      async tokensOf(...given) {
        asked.push(given);
        return standing;
      },
    },
    now: () => 1_000,
  });
  return { tokens, wanted, asked };
}

describe('the token of an account', () => {
  it('is that of its own link to the upstream, of a later generation where one was refused', async () => {
    const { tokens, asked } = tokensOver(row);
    expect(await tokens.token('ann', 'work', { scopes: ['files:read'] })).toBe(token);
    expect(await tokens.token('ann', 'work', { scopes: [], after: 2 })).toBe(token);
    expect(asked).toEqual([
      ['link-1', {}],
      ['link-1', { after: 2 }],
    ]);
    expect(await tokens.token('bob', 'work', { scopes: [] })).toBe('needs_link');
    expect(await tokens.token('ann', 'other', { scopes: [] })).toBe('needs_link');
  });

  it.each(['none', 'ended'] as const)(
    'needs a link where the one there was gives nothing: %s',
    async (word) => {
      const { tokens } = tokensOver(row, word);
      expect(await tokens.token('ann', 'work', { scopes: [] })).toBe('needs_link');
      expect(await tokens.holds('ann', 'work', [])).toBe(false);
    },
  );

  it('needs a link where no tokens are held any more', async () => {
    const { tokens, asked } = tokensOver({
      id: 'link-1',
      accountId: 'ann',
      upstream: 'work',
    } as UpstreamLinkRow);
    expect(await tokens.token('ann', 'work', { scopes: [] })).toBe('needs_link');
    expect(await tokens.holds('ann', 'work', [])).toBe(false);
    expect(asked).toEqual([]);
  });

  it('is unavailable while the upstream is: down is not no (T-090)', async () => {
    const { tokens } = tokensOver(row, 'unavailable');
    expect(await tokens.token('ann', 'work', { scopes: [] })).toBe('unavailable');
  });

  it('has the upstream asked for scopes it lacks from then on', async () => {
    const { tokens, wanted } = tokensOver(row);
    const scopes = ['openid', 'files:write'];
    expect(await tokens.token('ann', 'work', { scopes })).toBe('needs_scopes');
    expect(wanted).toEqual([['link-1', ['files:write']]]);
    expect([
      await tokens.holds('ann', 'work', scopes),
      await tokens.holds('ann', 'work', ['openid']),
    ]).toEqual([false, true]);
  });

  it('is not held while the one there is has expired, and the upstream is not asked for that', async () => {
    for (const [expiresAt, isHeld] of [
      [1_000, false],
      [1_001, true],
    ] as const) {
      const { tokens, asked } = tokensOver({ ...row, expiresAt });
      expect([await tokens.holds('ann', 'work', []), asked.length]).toEqual([isHeld, isHeld ? 1 : 0]);
    }
  });
});
