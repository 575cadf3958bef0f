import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type ClientDocuments,
  createClientDocuments,
} from '../../../src/authorization-server/client-documents/client-documents.ts';
import { createSealedBox } from '../../../src/crypto/sealed-box.ts';
import { FetchRefused } from '../../../src/net/fetch-refused.ts';
import type { FetchedDocument, GuardedFetch } from '../../../src/net/guarded-fetch.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { openForTest, startOfTime } from '../../storage/contract/subject.ts';
import { openNewDatabase } from '../../storage/sqlite/subject.ts';

const url = 'https://app.example.com/client.json';
const day = 86_400;

let clock: { now: number };
let storage: Storage;
let fetched: string[];
/** What the host answers; a test puts its own here. */
let answer: (url: string) => FetchedDocument | Error | Promise<FetchedDocument>;
let documents: ClientDocuments;

function served(members: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
  return (at: string): FetchedDocument => ({
    status: 200,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(
      JSON.stringify({
        client_id: at,
        client_name: 'An app',
        redirect_uris: ['https://app.example.com/cb'],
        ...members,
      }),
    ),
  });
}

const status = (code: number) => (): FetchedDocument => ({
  status: code,
  headers: {},
  body: Buffer.alloc(0),
});

const fetch: GuardedFetch = async (target, beforeConnect) => {
  await beforeConnect?.(['203.0.113.1']);
  fetched.push(target.href);
  const given = await answer(target.href);
  if (given instanceof Error) throw given;
  return given;
};

function create(perAddress = 100, perTarget = 100): ClientDocuments {
  return createClientDocuments({
    store: storage.clientDocuments,
    box: createSealedBox([key]),
    fetch,
    isHostAllowed: (host) => host !== 'denied.example.com',
    limits: {
      perAddress: { times: perAddress, windowSeconds: 60 },
      perTarget: { times: perTarget, windowSeconds: 60 },
    },
    now: () => clock.now,
  });
}

const key = { id: 'k', key: randomBytes(32).toString('base64url') };

beforeEach(async () => {
  clock = { now: startOfTime };
  storage = await openForTest(openNewDatabase);
  fetched = [];
  answer = served();
  documents = create();
});

const find = (at = url, address: string | undefined = 'a'): Promise<Record<string, unknown>> =>
  documents.find(at, address);

describe('a client document', () => {
  it('is fetched once while it is fresh, in every process and after a restart (A5-08)', async () => {
    answer = served({}, { 'cache-control': 'max-age=600' });
    expect(await find()).toMatchObject({ client_id: url, client_name: 'An app' });
    clock.now += 599;
    expect(await create().find(url, undefined)).toMatchObject({ client_name: 'An app' });
    expect(fetched).toEqual([url]);
    clock.now += 1;
    answer = served({ client_name: 'Renamed' });
    expect(await find()).toMatchObject({ client_name: 'Renamed' });
    expect(fetched).toHaveLength(2);
  });

  it('is kept sealed: who can write the database alone cannot make one up (T-194)', async () => {
    await find();
    const row = await storage.clientDocuments.find(url);
    expect(Buffer.from(row?.payload ?? []).toString('latin1')).not.toContain('An app');
    await storage.clientDocuments.put(
      { url, payload: Buffer.from('{"client_id":"x"}'), fetchedAt: clock.now, freshUntil: clock.now + 60 },
      10,
    );
    await expect(find()).rejects.toMatchObject({ name: 'SealBroken' });
  });

  it.each([
    ['max-age=31536000', day],
    ['no-store', 30],
  ])('with Cache-Control %s is fetched again after %i seconds (T-075)', async (control, seconds) => {
    answer = served({}, { 'cache-control': control });
    await find();
    clock.now += seconds - 1;
    await find();
    expect(fetched).toHaveLength(1);
    clock.now += 1;
    await find();
    expect(fetched).toHaveLength(2);
  });

  it('that many ask for at once is fetched by one of them (T-075)', async () => {
    let end: (document: FetchedDocument) => void = () => undefined;
    answer = () =>
      new Promise((resolve) => {
        end = resolve;
      });
    documents = create(1, 1);
    const asking = Array.from({ length: 50 }, () => find());
    await expect.poll(() => fetched.length).toBe(1);
    end(served()(url));
    expect(await Promise.all(asking)).toHaveLength(50);
    expect(fetched).toHaveLength(1);
  });

  it('that was refused is asked for again: refusals are not kept (T-075)', async () => {
    for (const refusal of [
      status(404),
      status(500),
      () => new FetchRefused('timeout', 'slow'),
      served({ client_id: 'x' }),
    ]) {
      answer = refusal;
      await expect(find()).rejects.toMatchObject({ name: 'DocumentRefused' });
      expect(await storage.clientDocuments.find(url)).toBeUndefined();
    }
    answer = served();
    expect(await find()).toMatchObject({ client_id: url });
    expect(fetched).toHaveLength(5);
  });

  it('of a clock that was set back is of unknown age and fetched again (T-176)', async () => {
    await find();
    clock.now -= 3600;
    await find();
    expect(fetched).toHaveLength(2);
  });

  it('is recalled without a fetch', async () => {
    expect(await documents.recall(url)).toBeUndefined();
    await find();
    clock.now += day;
    expect(await documents.recall(url)).toMatchObject({ client_id: url });
    expect(fetched).toHaveLength(1);
  });
});

describe('a document is refused for good', () => {
  it.each([201, 204, 301, 302, 307, 304, 400, 401, 404, 410])(
    'with status %i: only 200 counts (T-070)',
    async (code) => {
      answer = status(code);
      await expect(find()).rejects.toMatchObject({
        retryAfterSeconds: undefined,
        message: expect.stringContaining(`${code}`),
      });
    },
  );

  it.each([undefined, 'text/html', 'text/plain', 'application/jsonp', 'x/application/json'])(
    'served as %s',
    async (type) => {
      const document = served()(url);
      answer = () => ({ ...document, headers: type ? { 'content-type': type } : {} });
      await expect(find()).rejects.toMatchObject({ retryAfterSeconds: undefined });
      answer = () => ({ ...document, headers: { 'content-type': 'application/client+json; charset=utf-8' } });
      expect(await find()).toMatchObject({ client_id: url });
    },
  );

  it.each(['not_public', 'certificate', 'too_large', 'encoded'] as const)(
    'where the fetch finds: %s',
    async (fault) => {
      answer = () => new FetchRefused(fault, 'no');
      await expect(find()).rejects.toMatchObject({ retryAfterSeconds: undefined });
    },
  );

  it.each(['http://app.example.com/c', 'https://app.example.com', 'https://denied.example.com/c'])(
    'at %s, and nobody is asked (T-073, T-078)',
    async (at) => {
      await expect(find(at)).rejects.toMatchObject({ name: 'DocumentRefused', retryAfterSeconds: undefined });
      expect(fetched).toEqual([]);
    },
  );
});

describe('where the host is in trouble', () => {
  const troubles = [
    () => new FetchRefused('timeout', 'slow'),
    () => new FetchRefused('unreachable', 'gone'),
    () => new FetchRefused('busy', 'busy'),
    status(429),
    status(503),
  ];

  it('an unknown document may come another time', async () => {
    for (const trouble of troubles) {
      answer = trouble;
      await expect(find()).rejects.toMatchObject({ retryAfterSeconds: 30 });
    }
  });

  it('a known document goes on for a day after its fetch, and is asked for every half minute (T-075)', async () => {
    answer = served({}, { 'cache-control': 'max-age=600' });
    await find();
    for (const trouble of troubles) {
      clock.now += 600;
      answer = trouble;
      expect(await find()).toMatchObject({ client_name: 'An app' });
    }
    const asked = fetched.length;
    await find();
    expect(fetched).toHaveLength(asked);
    clock.now += 30;
    await find();
    expect(fetched).toHaveLength(asked + 1);
    clock.now = startOfTime + day;
    await expect(find()).rejects.toMatchObject({ retryAfterSeconds: 30 });
    answer = served();
    expect(await find()).toMatchObject({ client_name: 'An app' });
  });

  it('a known document that is gone for good ends at once', async () => {
    await find();
    clock.now += 300;
    answer = status(404);
    await expect(find()).rejects.toMatchObject({ retryAfterSeconds: undefined });
    answer = () => new FetchRefused('timeout', 'slow');
    await expect(find()).rejects.toMatchObject({ retryAfterSeconds: 30 });
  });

  it('a fault of ours is no refusal, and nothing is kept of it', async () => {
    answer = () => new TypeError('a bug');
    await expect(find()).rejects.toThrow(TypeError);
  });
});

describe('invented URLs', () => {
  it('are fetched so often for an address, and known documents beyond that (T-076)', async () => {
    await find(url, 'b');
    documents = create(3, 100);
    for (let at = 0; at < 3; at++) await find(`https://h${at}.example/c`, 'b');
    await expect(find('https://h3.example/c', 'b')).rejects.toMatchObject({ isOurLimit: true });
    expect(await find(url, 'b')).toMatchObject({ client_id: url });
    clock.now += 300;
    expect(await find(url, 'b')).toMatchObject({ client_id: url });
    expect(await find('https://h3.example/c', 'c')).toMatchObject({ client_name: 'An app' });
  });

  it('of one host are fetched so often, whoever asks; those who use its true one are not locked out (T-076)', async () => {
    documents = create(1000, 3);
    await find();
    answer = status(404);
    for (let at = 0; at < 20; at++)
      await find(`https://app.example.com/${at}`, `a${at}`).catch(() => undefined);
    expect(fetched).toHaveLength(3);
    await expect(find('https://app.example.com/x', 'z')).rejects.toMatchObject({
      isOurLimit: true,
      retryAfterSeconds: expect.any(Number),
    });
    clock.now += 300;
    answer = served({ client_name: 'Renamed' });
    expect(await find()).toMatchObject({ client_name: 'Renamed' });
  });

  it('in thousands leave no more rows than may be kept (T-075)', async () => {
    documents = create(1e9, 1e9);
    for (let at = 0; at < 2_200; at += 100)
      await Promise.all(Array.from({ length: 100 }, (_, n) => find(`https://app.example.com/${at + n}`)));
    const kept = await Promise.all(
      Array.from({ length: 2_200 }, (_, at) => storage.clientDocuments.find(`https://app.example.com/${at}`)),
    );
    expect(kept.filter(Boolean)).toHaveLength(2_000);
  });
});
