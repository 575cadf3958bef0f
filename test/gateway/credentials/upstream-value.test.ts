import { describe, expect, it, vi } from 'vitest';
import {
  createUpstreamValue,
  type UpstreamTokenAnswer,
} from '../../../src/gateway/credentials/upstream-value.ts';
import { withPatience } from '../../../src/mcp/upstreams/caller-upstreams.ts';
import { missingInputOf } from '../../../src/mcp/upstreams/missing-input.ts';
import type { AuthInfo } from '../../../src/oauth/auth-info.ts';

const issuer = 'https://gate.example';
const caller = (subject: string, clientId = 'client'): AuthInfo => ({
  issuer,
  subject,
  clientId,
  scopes: [],
  audience: `${issuer}/github/mcp`,
  expiresAt: 2_000_000_000,
});

const nowSeconds = 1_800_000_000;

function start(known: Record<string, UpstreamTokenAnswer>, isKept = false) {
  const asked: unknown[] = [];
  const warn = vi.fn();
  const source = createUpstreamValue(
    {
      issuer,
      backend: 'Repositories',
      upstream: 'github',
      labelOf: () => 'GitHub',
      scopes: ['repo'],
      tokens: {
        async token(accountId, upstream, wishes) {
          asked.push([accountId, upstream, wishes]);
          return known[accountId] ?? 'needs_link';
        },
        holds: async (accountId) => typeof known[accountId] === 'object',
      },
      urlFor: (accountId) => `${issuer}/account/upstreams/github/link/mark-of-${accountId}`,
      isKept,
      now: () => nowSeconds,
      logger: { warn },
    },
    20,
  );
  return { source, asked };
}

describe('a credential that is the token of an upstream', () => {
  it('is that of the caller, asked anew each time, for the scopes it needs (T-158)', async () => {
    const { source, asked } = start({ ada: { accessToken: 'of-ada' }, grace: { accessToken: 'of-grace' } });
    expect(await source.find(caller('ada'))).toEqual({ value: 'of-ada' });
    expect(await source.find(caller('grace'))).toEqual({ value: 'of-grace' });
    expect(asked).toEqual(['ada', 'grace'].map((id) => [id, 'github', { scopes: ['repo'] }]));
  });

  it.each([
    ['needs_link', 'This needs your account at GitHub. Link it to your account here.'],
    [
      'needs_scopes',
      'This needs more from your account at GitHub than you have allowed so far. Allow it here.',
    ],
  ] as const)('asks for what %s by the page where people link (C7-04)', async (answer, message) => {
    const known: Record<string, UpstreamTokenAnswer> = { ada: answer };
    const found = await start(known).source.find(caller('ada'));
    const url = `${issuer}/account/upstreams/github/link/mark-of-ada`;
    if (!('error' in found)) throw new Error('there is one');
    expect(found.error).toMatchObject({ data: { reason: 'credential_missing', url } });
    expect(found.error.message).toContain(`${message} Open ${url}`);
    const missing = missingInputOf(found.error);
    expect(missing).toMatchObject({ name: 'link-github', url, message });
    expect(await missing?.isGiven()).toBe(false);
    known.ada = { accessToken: 'late' };
    expect(await missing?.isGiven()).toBe(true);
  });

  it('is waited for where its person is linking just now', async () => {
    const known: Record<string, UpstreamTokenAnswer> = {};
    const { source } = start(known);
    setTimeout(() => {
      known.ada = { accessToken: 'late' };
    }, 100);
    expect(await source.find(withPatience(caller('ada'), 5_000))).toEqual({ value: 'late' });
  });

  it('is nobody’s where a client acts for itself, and unavailable while the upstream is', async () => {
    const { source } = start({ robot: { accessToken: 'of-robot' }, ada: 'unavailable' });
    expect(await source.find(caller('robot', 'robot'))).toMatchObject({
      error: { data: { reason: 'credential_no_person' } },
    });
    expect(await source.find(caller('ada'))).toMatchObject({
      error: { data: { reason: 'credential_unavailable' } },
    });
  });

  it('ends what was made with it, where it stays with a process: with the token, and with the link', async () => {
    const known: Record<string, UpstreamTokenAnswer> = {
      ada: { accessToken: 'of-ada', expiresAt: nowSeconds },
      grace: { accessToken: 'of-grace', expiresAt: nowSeconds + 3_600 },
      lin: { accessToken: 'of-lin' },
    };
    const { source } = start(known, true);
    const tell = vi.fn();
    const stop = source.onChange(tell);
    for (const id of ['ada', 'grace', 'lin']) await source.find(caller(id));
    await vi.waitFor(() => expect(tell.mock.calls).toEqual([[{ issuer, subject: 'ada' }]]));
    known.lin = 'needs_link';
    await vi.waitFor(() => expect(tell.mock.calls[1]).toEqual([{ issuer, subject: 'lin' }]));
    stop();
    known.grace = 'needs_link';
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(tell).toHaveBeenCalledTimes(2);
  });

  it('ends nothing where each request gets its own', async () => {
    const { source } = start({ ada: { accessToken: 'of-ada', expiresAt: nowSeconds } });
    const tell = vi.fn();
    source.onChange(tell);
    await source.find(caller('ada'));
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(tell).not.toHaveBeenCalled();
  });
});
