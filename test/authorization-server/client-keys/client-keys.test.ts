import { describe, expect, it } from 'vitest';
import {
  ClientKeysRefused,
  createClientKeys,
} from '../../../src/authorization-server/client-keys/client-keys.ts';
import { FetchRefused } from '../../../src/net/fetch-refused.ts';
import type { FetchedDocument } from '../../../src/net/guarded-fetch.ts';

// Over src/authorization-server/client-keys/key-set.ts, too.

const url = 'https://app.example.com/keys.json';
const often = { times: 1_000, windowSeconds: 60 };

const keySet = (...ids: string[]) => ({ keys: ids.map((kid) => ({ kty: 'EC', kid })) });

/** Key sets over a host whose answer can be changed, with a clock that can be moved. */
function start(limits = { perAddress: often, perTarget: often }) {
  const clock = { now: 1_800_000_000 };
  const host = { fetches: 0, answer: async (): Promise<Partial<FetchedDocument>> => ({}) };
  const serve = (body: unknown, headers = {}, status = 200) => {
    host.answer = async () => ({ status, headers, body: Buffer.from(JSON.stringify(body)) });
  };
  const keys = createClientKeys({
    fetch: async (_url, beforeConnect) => {
      host.fetches++;
      await beforeConnect?.(['192.0.2.1']);
      return { status: 200, headers: {}, body: Buffer.alloc(0), ...(await host.answer()) };
    },
    limits,
    now: () => clock.now,
  });
  const find = (keyId?: string, at = url) => keys.find(at, { keyId, address: '198.51.100.1' });
  return { clock, host, serve, find };
}

const idsOf = (set: { keys: Record<string, unknown>[] }) => set.keys.map(({ kid }) => kid);

describe('the keys of a client', () => {
  it('are fetched once while they are fresh, also by many who want them at once', async () => {
    const { clock, host, serve, find } = start();
    serve(keySet('a'), { 'cache-control': 'max-age=600' });
    await Promise.all(Array.from({ length: 50 }, () => find('a')));
    clock.now += 599;
    expect(idsOf(await find('a'))).toEqual(['a']);
    expect(host.fetches).toBe(1);
    clock.now += 1;
    await find('a');
    expect(host.fetches).toBe(2);
  });

  it('are used for an hour at most, whatever their host says, so that one that was withdrawn is gone then', async () => {
    const { clock, serve, find } = start();
    serve(keySet('stolen'), { 'cache-control': 'max-age=86400' });
    await find();
    serve(keySet('new'));
    clock.now += 3_599;
    expect(idsOf(await find())).toEqual(['stolen']);
    clock.now += 1;
    expect(idsOf(await find())).toEqual(['new']);
  });

  it('are fetched again for a key that is not among them, but not twice in half a minute (T-057)', async () => {
    const { clock, host, serve, find } = start();
    serve(keySet('a'), { 'cache-control': 'max-age=3600' });
    await find('a');
    serve(keySet('a', 'b'), { 'cache-control': 'max-age=3600' });
    for (let time = 0; time < 20; time++) expect(idsOf(await find('b'))).toEqual(['a']);
    expect(host.fetches).toBe(1);
    clock.now += 30;
    expect(idsOf(await find('b'))).toEqual(['a', 'b']);
    for (let time = 0; time < 20; time++) await find(`guess ${time}`);
    expect(host.fetches).toBe(2);
  });

  it('go on for an hour while their host is in trouble, and end at once where it has none any more', async () => {
    const { clock, host, serve, find } = start();
    serve(keySet('a'));
    await find();
    host.answer = async () => {
      throw new FetchRefused('timeout', 'the host took too long to answer');
    };
    clock.now += 301;
    expect(idsOf(await find())).toEqual(['a']);
    serve({}, {}, 503);
    clock.now += 3_000;
    expect(idsOf(await find())).toEqual(['a']);
    clock.now += 700;
    await expect(find()).rejects.toThrow(ClientKeysRefused);
    const again = start();
    again.serve(keySet('a'));
    await again.find();
    again.serve({}, {}, 404);
    again.clock.now += 301;
    await expect(again.find()).rejects.toMatchObject({
      error_description: expect.stringContaining('status 404'),
    });
  });

  it.each([
    ['HTML', Buffer.from('<html>'), 'not JSON'],
    ['broken text', Buffer.from([0xff]), 'not JSON'],
    [
      'ten thousand keys',
      Buffer.from(JSON.stringify({ keys: Array(10_000).fill({ kty: 'EC' }) })),
      'more than 20',
    ],
    ['a private key', Buffer.from('{"keys":[{"kty":"EC","d":"d"}]}'), 'private key'],
  ])(
    'are refused where they are %s, for half a minute without asking again (T-057)',
    async (_what, body, reason) => {
      const { clock, host, find } = start();
      host.answer = async () => ({ body });
      for (let time = 0; time < 3; time++)
        await expect(find()).rejects.toMatchObject({
          status: 401,
          error: 'invalid_client',
          error_description: expect.stringContaining(reason),
          retryAfterSeconds: 30,
        });
      expect(host.fetches).toBe(1);
      clock.now += 30;
      await expect(find()).rejects.toThrow(ClientKeysRefused);
      expect(host.fetches).toBe(2);
    },
  );

  it('are fetched from one host as often as the budget says, and no more (T-076)', async () => {
    const { host, serve, find } = start({ perAddress: often, perTarget: { times: 3, windowSeconds: 60 } });
    serve(keySet('a'));
    const asked = Array.from({ length: 10 }, (_, at) => find(undefined, `${url}?${at}`));
    const settled = await Promise.allSettled(asked);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(host.fetches).toBeLessThanOrEqual(3);
  });

  it('are kept for two hundred clients, the oldest going first', async () => {
    const { host, serve, find } = start();
    serve(keySet('a'), { 'cache-control': 'max-age=3600' });
    for (let at = 0; at <= 200; at++) await find('a', `${url}?${at}`);
    await find('a', `${url}?200`);
    expect(host.fetches).toBe(201);
    await find('a', `${url}?0`);
    expect(host.fetches).toBe(202);
  });

  it('are not fetched where nothing may be', async () => {
    const none = createClientKeys({
      fetch: undefined,
      limits: { perAddress: often, perTarget: often },
      now: () => 1_800_000_000,
    });
    await expect(none.find(url, { keyId: undefined, address: undefined })).rejects.toMatchObject({
      error_description: expect.stringContaining('register them as jwks'),
    });
  });
});
