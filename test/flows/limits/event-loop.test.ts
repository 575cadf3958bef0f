import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { patience } from '../../support/patience.ts';
import { type Door, doorNames, enter, openDoor, type Principal, send } from '../attacks/support/doors.ts';
import { type ServedProcess, serveProcess } from '../attacks/support/served-process.ts';

/** Asks for `/healthz` every 5 ms, in a thread that nothing else holds up, and tells the longest wait on demand. */
const asking = `
const { parentPort, workerData } = require('node:worker_threads');
const { Agent, get } = require('node:http');
const agent = new Agent({ keepAlive: true });
let longest = 0;
let begun = 0;
const ask = () => {
  begun = performance.now();
  get(workerData + '/healthz', { agent }, (response) => {
    response.resume().on('end', () => {
      longest = Math.max(longest, performance.now() - begun);
      begun = 0;
      setTimeout(ask, 5);
    });
  }).on('error', () => setTimeout(ask, 5));
};
ask();
parentPort.on('message', () => {
  const wait = begun === 0 ? 0 : performance.now() - begun;
  parentPort.postMessage(Math.max(longest, wait));
  longest = 0;
  if (begun !== 0) begun = performance.now();
});
`;

const megabytes = 4 * 1024 * 1024 - 4096;
const filled = (unit: string, end = ''): string => unit.repeat(Math.floor(megabytes / unit.length)) + end;
const list = (count: number, of: (at: number) => unknown): unknown[] =>
  Array.from({ length: count }, (_, at) => of(at));

/** Texts of almost 4 MiB that a parser may have to work hard for. */
const bodies: Record<string, string> = {
  'one string': `"${'x'.repeat(megabytes)}"`,
  'open arrays': filled('['),
  'open objects': filled('{"a":'),
  'nested arrays': '['.repeat(megabytes / 2) + ']'.repeat(megabytes / 2),
  '49,000 values': JSON.stringify(list(49_000, (at) => ({ [`a${at}`]: 'y'.repeat(60) })).slice(0, 20_000)),
  'two million values': `[${filled('1,', '1')}]`,
  'many names': `{${list(300_000, (at) => `"n${at}":1`).join(',')}}`,
  escapes: `"${filled('\\u0000')}"`,
  'lone surrogates': `"${filled('\\ud800')}"`,
  'a number of a million digits': `[${'9'.repeat(1_000_000)},1e${'9'.repeat(1_000_000)}]`,
};

/** Messages whose checks could cost more than their size. */
const messages: Record<string, (write: (method: string, params: object, id: number) => string) => string> = {
  '45,000 URIs': (write) =>
    write(
      'subscriptions/listen',
      { notifications: { resourceSubscriptions: list(45_000, (at) => `notes://%252e%2e/${at}/..;/a b`) } },
      1,
    ),
  '500 URIs of 8 KB': (write) =>
    write(
      'subscriptions/listen',
      {
        notifications: { resourceSubscriptions: list(500, (at) => `notes://${at}/${'%ff%41'.repeat(1350)}`) },
      },
      1,
    ),
  'a batch of 100 reads of 8 KB': (write) =>
    `[${list(100, (at) => write('resources/read', { uri: `notes://${at}/${'../%20;/'.repeat(1000)}` }, at)).join(',')}]`,
  'a batch of 100 plain reads of 8 KB': (write) =>
    `[${list(100, (at) => write('resources/read', { uri: `notes://${at}/${'a/'.repeat(4000)}` }, at)).join(',')}]`,
  'a call with 10,000 arguments': (write) =>
    write(
      'tools/call',
      {
        name: 'add_note',
        arguments: Object.fromEntries(
          list(10_000, (at) => [`a${at}`, 'x'.repeat(320)]) as [string, string][],
        ),
      },
      1,
    ),
  'a call with 40,000 arguments of long names': (write) =>
    write(
      'tools/call',
      {
        name: 'add_note',
        arguments: Object.fromEntries(
          list(40_000, (at) => [`${'n'.repeat(80)}${at}`, 1]) as [string, number][],
        ),
      },
      1,
    ),
  'a string of 4 MB': (write) =>
    write('tools/call', { name: 'add_note', arguments: { text: 'x'.repeat(megabytes - 4096) } }, 1),
};

/** Requests to the endpoints of the authorization server, with no token. */
const forms: [string, string, Record<string, string>, string][] = [
  ['/token', 'many parameters', {}, filled('a=b&')],
  [
    '/token',
    'a long scope',
    {},
    `grant_type=refresh_token&refresh_token=x&client_id=x&scope=${'a+'.repeat(27_000)}`,
  ],
  [
    '/token',
    'a long assertion',
    {},
    `grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=${'a.'.repeat(27_000)}`,
  ],
  ['/authorize', 'a long query as a form', {}, filled('scope=a+')],
  ['/revoke', 'a long token', {}, `token=${'%41'.repeat(18_000)}`],
  [
    '/register',
    'thousands of redirect URIs',
    { 'content-type': 'application/json' },
    JSON.stringify({ redirect_uris: list(5000, (at) => `http://127.0.0.1:${at + 1}/`) }),
  ],
  [
    '/register',
    '10,000 contacts',
    { 'content-type': 'application/json' },
    JSON.stringify({
      redirect_uris: ['http://127.0.0.1/'],
      contacts: list(10_000, (at) => `a${at}@b.example`),
    }),
  ],
  [
    '/register',
    'a scope of 100 KB',
    { 'content-type': 'application/json' },
    JSON.stringify({ redirect_uris: ['http://127.0.0.1/'], scope: 'a '.repeat(50_000) }),
  ],
];

describe('no single request keeps others waiting (FA-04, T-204)', () => {
  let served: ServedProcess;
  let ann: Principal;
  let asker: Worker;
  const doors = new Map<string, Door>();
  /** What 4 MB of an ordinary message cost: a machine that is slow at these is slow at all. */
  let ordinaryMs = 0;
  beforeAll(async () => {
    served = await serveProcess();
    ann = await enter(served);
    for (const name of doorNames) doors.set(name, await openDoor(served, name, ann));
    asker = new Worker(asking, { eval: true, workerData: served.listensAt });
    const rest = doors.get('rest') as Door;
    const words = list(40_000, () => 'x'.repeat(90));
    for (let at = 0; at < 6; at++) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: at, method: 'ping', params: { words } });
      const waited = await longestDuring(() => rest.post(body));
      if (at >= 3) ordinaryMs = Math.max(ordinaryMs, waited);
    }
  });
  afterAll(async () => {
    for (const door of doors.values()) door.close();
    await asker.terminate();
    await served.stop();
  });
  /** How long the longest of the requests that another client sent meanwhile took, in milliseconds. */
  const longestDuring = async (work: () => Promise<unknown>): Promise<number> => {
    const told = (): Promise<number> =>
      new Promise((resolve) => {
        asker.once('message', resolve);
        asker.postMessage('tell');
      });
    await told();
    await work();
    return told();
  };
  const expectCalm = async (work: () => Promise<unknown>): Promise<void> => {
    const waited = await longestDuring(work);
    expect(waited).toBeLessThan(Math.max(patience(100), 2 * ordinaryMs));
  };

  for (const name of doorNames) {
    it.each(Object.keys(bodies))(`at ${name}: 4 MB of %s`, async (what) => {
      const door = doors.get(name) as Door;
      await expectCalm(() => door.post(bodies[what] ?? ''));
    });
    it.each(Object.keys(messages))(`at ${name}: %s`, async (what) => {
      const door = doors.get(name) as Door;
      let headers: Record<string, string> = {};
      const body = messages[what]?.((method, params, id) => {
        const written = door.write(method, params as Record<string, unknown>, id);
        headers = written.headers;
        return written.body;
      });
      const method = what.includes('read') ? { ...headers, 'mcp-name': 'notes://a' } : headers;
      await expectCalm(async () => {
        const asked = door.post(body ?? '', method).catch(() => undefined);
        await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, 2000))]);
      });
    });
  }

  it.each(forms)('at %s: %s', async (path, _what, headers, body) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    await expectCalm(() =>
      send(served, path, { headers: { ...type, ...headers }, body }).catch(() => undefined),
    );
  });

  it.each(Object.keys(bodies))('at /register: 4 MB of %s', async (what) => {
    const headers = { 'content-type': 'application/json' };
    await expectCalm(() =>
      send(served, '/register', { headers, body: bodies[what] ?? '' }).catch(() => undefined),
    );
  });

  it.each([
    [
      'a query of 16 KB',
      `/authorize?client_id=x&claims=${encodeURIComponent(`{"id_token":${'['.repeat(4000)}`)}`,
      {},
    ],
    ['a query of many scopes', `/authorize?client_id=x&scope=${'a+'.repeat(7000)}`, {}],
    ['many cookies', '/account', { cookie: 'a=b; '.repeat(2500) }],
    ['a long Accept', '/mcp', { accept: 'a/b;q=0.5,'.repeat(1400) }],
    ['a long Authorization', '/mcp', { authorization: `Bearer ${'a'.repeat(14_000)}` }],
    ['a long well-known path', `/.well-known/oauth-protected-resource${'/'.repeat(14_000)}`, {}],
    ['a long Last-Event-ID', '/mcp', { 'last-event-id': '1_'.repeat(7000), accept: 'text/event-stream' }],
  ])('in the head of a request: %s', async (_what, path, headers) => {
    await expectCalm(() => send(served, path, { method: 'GET', headers }).catch(() => undefined));
  });
});
