import { describe, expect, it, vi } from 'vitest';
import {
  createUpstreamValue,
  type UpstreamTokenAnswer,
} from '../../../src/gateway/credentials/upstream-value.ts';
import { missingInputOf, withPatience } from '../../../src/mcp/upstreams/upstream.ts';
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
  const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const store = { looks: 0, isDown: false };
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
          if (accountId === 'unreadable') throw new Error('disk I/O error');
          return known[accountId] ?? 'needs_link';
        },
        async holds(accountId) {
          store.looks++;
          if (store.isDown) throw new Error('disk I/O error');
          return typeof known[accountId] === 'object';
        },
      },
      urlFor: (accountId) => `${issuer}/account/upstreams/github/link/mark-of-${accountId}`,
      isKept,
      now: () => nowSeconds,
      logger,
    },
    20,
  );
  return { source, asked, logger, store };
}

describe('a credential that is the token of an upstream', () => {
  it('is that of the caller, asked anew each time, for the scopes it needs (T-158)', async () => {
    const { source, asked } = start({
      ada: { generation: 1, accessToken: 'of-ada' },
      grace: { generation: 1, accessToken: 'of-grace' },
    });
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
    known.ada = { generation: 1, accessToken: 'late' };
    expect(await missing?.isGiven()).toBe(true);
  });

  it('that cannot be read is an error to try again, and the reason is for the operator alone (T-196)', async () => {
    const { source, logger } = start({});
    const found = await source.find(caller('unreadable'));
    expect(found).toMatchObject({ error: { data: { reason: 'credential_unavailable' } } });
    expect(JSON.stringify(found)).not.toContain('disk');
    expect(logger.error.mock.calls).toEqual([
      [
        { err: new Error('disk I/O error'), backend: 'Repositories', upstream: 'github' },
        'the token of an upstream cannot be read',
      ],
    ]);
  });

  it('is waited for where its person is linking just now', async () => {
    const known: Record<string, UpstreamTokenAnswer> = {};
    const { source } = start(known);
    setTimeout(() => {
      known.ada = { generation: 1, accessToken: 'late' };
    }, 100);
    expect(await source.find(withPatience(caller('ada'), 5_000))).toEqual({ value: 'late' });
  });

  it('that the backend does not accept is renewed, once for all requests that were sent with it, and not soon again', async () => {
    const known: Record<string, UpstreamTokenAnswer> = { ada: { generation: 1, accessToken: 'first' } };
    const { source, asked } = start(known);
    await source.find(caller('ada'));
    const beganMs = performance.now();
    known.ada = { generation: 2, accessToken: 'second' };
    const many = await Promise.all(Array.from({ length: 5 }, () => source.refused(caller('ada'), beganMs)));
    expect(new Set(many)).toEqual(new Set(['renewed']));
    expect(asked.slice(1)).toEqual([['ada', 'github', { scopes: ['repo'], after: 1 }]]);
    expect(await source.find(caller('ada'))).toEqual({ value: 'second' });
    expect(await source.refused(caller('ada'), beganMs)).toBe('renewed');
    expect(await source.refused(caller('ada'), performance.now())).toMatchObject({
      error: { message: expect.stringContaining('does not accept your account at GitHub. Link it again') },
    });
    expect(asked).toHaveLength(3);
  });

  it('that the backend does not accept, and the upstream neither, is asked for at the page where people link', async () => {
    const known: Record<string, UpstreamTokenAnswer> = { ada: { generation: 1, accessToken: 'first' } };
    const { source } = start(known);
    await source.find(caller('ada'));
    known.ada = 'needs_link';
    const found = await source.refused(caller('ada'), performance.now());
    if (found === 'renewed') throw new Error('there is nothing new');
    expect(found.error).toMatchObject({ data: { reason: 'credential_missing' } });
    expect(missingInputOf(found.error)?.name).toBe('link-github');
  });

  it('that cannot be renewed, and is not accepted, is linked again', async () => {
    const { source, asked } = start({ ada: { generation: 1, accessToken: 'only' } });
    await source.find(caller('ada'));
    for (let tries = 0; tries < 2; tries++)
      expect(await source.refused(caller('ada'), performance.now())).toMatchObject({
        error: { data: { reason: 'credential_refused' } },
      });
    expect(asked).toHaveLength(2);
  });

  it('is nobody’s where a client acts for itself, and unavailable while the upstream is', async () => {
    const { source } = start({ robot: { generation: 1, accessToken: 'of-robot' }, ada: 'unavailable' });
    expect(await source.find(caller('robot', 'robot'))).toMatchObject({
      error: { data: { reason: 'credential_no_person' } },
    });
    expect(await source.find(caller('ada'))).toMatchObject({
      error: { data: { reason: 'credential_unavailable' } },
    });
  });

  it('ends what was made with it, where it stays with a process: with the token, and with the link', async () => {
    const known: Record<string, UpstreamTokenAnswer> = {
      ada: { generation: 1, accessToken: 'of-ada', expiresAt: nowSeconds },
      grace: { generation: 1, accessToken: 'of-grace', expiresAt: nowSeconds + 3_600 },
      lin: { generation: 1, accessToken: 'of-lin' },
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

  it('is looked after where it stays with a process: an outage of the store is said once, and its end', async () => {
    const { source, logger, store } = start({ ada: { generation: 1, accessToken: 'of-ada' } }, true);
    const stop = source.onChange(() => undefined);
    await source.find(caller('ada'));
    const looks = async (times: number) => {
      const from = store.looks;
      await vi.waitFor(() => expect(store.looks).toBeGreaterThan(from + times), { timeout: 5_000 });
    };
    await looks(2);
    expect(logger.warn).not.toHaveBeenCalled();
    for (const outages of [1, 2]) {
      store.isDown = true;
      await looks(4);
      expect(logger.warn).toHaveBeenCalledTimes(outages);
      store.isDown = false;
      await looks(4);
      expect(logger.info).toHaveBeenCalledTimes(outages);
    }
    expect(logger.warn).toHaveBeenLastCalledWith(
      { err: new Error('disk I/O error'), backend: 'Repositories', upstream: 'github' },
      'tokens of upstreams cannot be looked after',
    );
    stop();
  });

  it('ends nothing where each request gets its own', async () => {
    const { source } = start({ ada: { generation: 1, accessToken: 'of-ada', expiresAt: nowSeconds } });
    const tell = vi.fn();
    source.onChange(tell);
    await source.find(caller('ada'));
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(tell).not.toHaveBeenCalled();
  });
});
