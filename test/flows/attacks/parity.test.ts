import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { tryAccess } from '../../support/oauth.ts';
import { patience } from '../../support/patience.ts';
import { sendRaw } from '../../support/raw-http.ts';
import { grace } from '../../support/served.ts';
import {
  codeOf,
  type Door,
  doorNames,
  enter,
  failures,
  initialize,
  openDoor,
  type Principal,
  send,
} from './support/doors.ts';

let gatehouse: RunningGatehouse;
let principal: Principal;
let stranger: Principal;
const doors = new Map<string, Door>();
const doorOf = (name: string): Door => doors.get(name) as Door;

beforeAll(async () => {
  gatehouse = await startGatehouse();
  await gatehouse.administration.accounts.add(grace.email, grace.password);
  principal = await enter(gatehouse);
  stranger = await enter(gatehouse, { person: grace });
  for (const name of doorNames) doors.set(name, await openDoor(gatehouse, name, principal));
});
afterAll(async () => {
  for (const door of doors.values()) door.close();
  expect(failures(gatehouse.log)).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  await gatehouse.stop();
});

const paths = ['/mcp', '/sse', '/messages', '/rest'] as const;
const methods = ['GET', 'POST', 'DELETE', 'HEAD', 'PUT', 'PATCH', 'TRACE', 'PROPFIND'] as const;
const resourceOf = (path: string): string => `${gatehouse.url}${path === '/messages' ? '/sse' : path}`;
const tokenOf = (path: string, { mcp, sse, rest }: Principal): string =>
  path === '/mcp' ? mcp : path === '/rest' ? rest : sse;

describe.each(paths)('at %s', (path) => {
  describe.each(methods)('%s', (method) => {
    it('without good credentials is 401 with a challenge, and error only where a token was sent (T-095, T-151)', async () => {
      const resource = resourceOf(path);
      const metadata = resource.replace(/(\/\/[^/]+)/, '$1/.well-known/oauth-protected-resource');
      for (const authorization of [
        undefined,
        'Bearer',
        'Bearer ',
        'Basic YTpi',
        'Negotiate x',
        'DPoP',
        'bearer_',
      ]) {
        const answer = await send(gatehouse, path, { method, headers: { authorization } });
        expect([authorization, answer.status]).toEqual([authorization, 401]);
        const challenge = answer.headers['www-authenticate'] ?? '';
        expect(challenge).toContain(`resource_metadata="${metadata}"`);
        expect(challenge).not.toContain('error=');
      }
      for (const authorization of [
        'Bearer garbage',
        'DPoP garbage',
        'bearer a.b.c',
        `Bearer ${'x'.repeat(9000)}`,
        'Bearer é',
      ]) {
        const answer = await send(gatehouse, path, { method, headers: { authorization } });
        expect(answer.status).toBe(401);
        expect(answer.headers['www-authenticate']).toContain('error="invalid_token"');
      }
    });

    it('is refused to pages of other origins and under foreign names before any work (T-131)', async () => {
      const authorization = `Bearer ${tokenOf(path, principal)}`;
      for (const origin of ['http://evil.example', 'null', 'http://localhost.evil.example', 'file://', 'x']) {
        const answer = await send(gatehouse, path, { method, headers: { authorization, origin } });
        expect([origin, answer.status]).toEqual([origin, 403]);
        expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      }
      for (const host of ['evil.example', 'localhost.evil.example:80', '127.0.0.1.evil.example']) {
        const answer = await send(gatehouse, path, { method, headers: { authorization, host } });
        expect([host, answer.status]).toEqual([host, 421]);
      }
    });
  });

  it('serves the methods of its protocol alone, and no credentials are read from anywhere else (T-095, T-101)', async () => {
    const token = tokenOf(path, principal);
    const authorization = `Bearer ${token}`;
    for (const method of ['HEAD', 'PUT', 'PATCH', 'TRACE', 'PROPFIND']) {
      const answer = await send(gatehouse, path, { method, headers: { authorization } });
      expect([method, answer.status]).toEqual([method, 405]);
      expect(answer.headers.allow).toMatch(/GET|POST/);
    }
    const elsewhere: [string, Record<string, string>, string?][] = [
      [`${path}?access_token=${token}`, {}],
      [path, { cookie: `access_token=${token}; token=${token}` }],
      [path, { 'content-type': 'application/x-www-form-urlencoded' }, `access_token=${token}`],
      [path, { 'proxy-authorization': authorization }],
      [path, { 'x-authorization': authorization, 'x-forwarded-user': 'ada' }],
    ];
    for (const [target, headers, body] of elsewhere) {
      const method = path === '/sse' ? 'GET' : 'POST';
      const answer = await send(gatehouse, target, { method, headers, ...(body && { body }) });
      expect([target.slice(0, 20), answer.status]).toEqual([target.slice(0, 20), 401]);
    }
    const both = await send(gatehouse, `${path}?access_token=${token}`, {
      method: 'GET',
      headers: { authorization },
    });
    expect(both.status).toBe(400);
    const { host } = new URL(gatehouse.listensAt);
    const fields = [`Host: ${host}`, `Authorization: ${authorization}`, 'Authorization: Bearer other'];
    const two = await sendRaw(gatehouse.listensAt, [`GET ${path} HTTP/1.1`, ...fields]);
    expect([400, 401]).toContain(two.status);
  });

  it('takes no refresh token and no client id (T-100, T-041)', async () => {
    for (const token of [principal.refreshToken, principal.clientId]) {
      const headers = { authorization: `Bearer ${token}` };
      for (const method of ['GET', 'POST', 'DELETE'])
        expect((await send(gatehouse, path, { method, headers })).status).toBe(401);
    }
  });

  it('takes tokens for every transport of its server (FA-20)', async () => {
    for (const token of [principal.mcp, principal.sse, principal.rest])
      expect(await tryAccess(`${gatehouse.url}${path}`, token)).not.toBe(401);
  });

  it('answers OPTIONS without credentials, and says nothing but which methods there are (T-114)', async () => {
    const answer = await send(gatehouse, path, { method: 'OPTIONS' });
    expect([answer.status, answer.body]).toEqual([204, '']);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    const foreign = await send(gatehouse, path, {
      method: 'OPTIONS',
      headers: { origin: 'http://evil.example' },
    });
    expect(foreign.status).toBe(403);
  });

  it('is reached by no other spelling without credentials, and by none that runs something (T-110)', async () => {
    const spellings = [
      `${path}/`,
      `/${path}`,
      `${path}//`,
      `${path}%2f`,
      `/.${path}`,
      `/x/..${path}`,
      `/%2e%2e${path}`,
      path.toUpperCase(),
      `${path};a=b`,
      `${path}%00`,
      `${path}%zz`,
      `${path}\\`,
      `${path}/x`,
      `${path}.json`,
      `${path}%20`,
    ];
    for (const spelling of spellings) {
      const answer = await send(gatehouse, spelling, {
        headers: { 'content-type': 'application/json' },
        body: initialize(),
      });
      expect([spelling, [400, 401, 404].includes(answer.status)]).toEqual([spelling, true]);
    }
  });
});

const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');

describe.each(doorNames)('through the door %s', (name) => {
  const call = (door: Door) => door.write('tools/list', {});

  it('text that is not well-formed is 400 with -32700 (T-138, T-151)', async () => {
    const door = doorOf(name);
    const { body, headers } = call(door);
    const bytes = Buffer.from(body);
    const malformed: [string, string | Buffer][] = [
      ['no body', ''],
      ['blank', '  \n'],
      ['cut off', body.slice(0, -1)],
      [
        'a byte of latin 1',
        Buffer.concat([
          bytes.subarray(0, 1),
          Buffer.from([0x22, 0xe9, 0x22, 0x3a, 0x31, 0x2c]),
          bytes.subarray(1),
        ]),
      ],
      [
        'overlong UTF-8',
        Buffer.concat([
          Buffer.from('{"x":"'),
          Buffer.from([0xc0, 0xaf]),
          Buffer.from('",'),
          bytes.subarray(1),
        ]),
      ],
      [
        'a surrogate in UTF-8',
        Buffer.concat([
          Buffer.from('{"x":"'),
          Buffer.from([0xed, 0xa0, 0x80]),
          Buffer.from('",'),
          bytes.subarray(1),
        ]),
      ],
      ['UTF-16', utf16(body)],
      ['UTF-16 with a mark', utf16(`\ufeff${body}`)],
      ['NUL before', `\0${body}`],
      ['NUL behind', `${body}\0`],
      ['NUL within', `{"x":"\0",${body.slice(1)}`],
      ['two bodies', body + body],
      ['a comment', `/**/${body}`],
      ['NaN', '{"jsonrpc":"2.0","id":NaN,"method":"ping"}'],
      ['single quotes', "{'jsonrpc':'2.0'}"],
      ['HTML', '<html>'],
    ];
    for (const [what, sent] of malformed) {
      const answer = await door.post(sent, headers);
      expect([what, answer.status, codeOf(answer)]).toEqual([what, 400, -32700]);
      expect(answer.ms).toBeLessThan(patience(1000));
    }
  });

  it('a body in another type, charset or coding is 415 (T-138, T-151)', async () => {
    const door = doorOf(name);
    const { body, headers } = call(door);
    const types = [
      undefined,
      '',
      'text/plain',
      'text/json',
      'application/json5',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonp',
      'application/json, text/plain',
      'application/json; charset=utf-7',
      'application/json; charset=utf-16',
      'application/json;charset=iso-8859-1',
      'application/json; charset=utf-8; charset=utf-7',
    ];
    for (const type of types) {
      const answer = await door.post(body, { ...headers, 'content-type': type });
      expect([type, answer.status]).toEqual([type, 415]);
    }
    for (const coding of ['gzip', 'br', 'deflate', 'identity, gzip', 'x']) {
      const answer = await door.post(body, { ...headers, 'content-encoding': coding });
      expect([coding, answer.status]).toEqual([coding, 415]);
    }
    for (const type of [
      'application/json; charset=utf-8',
      'APPLICATION/JSON;CHARSET="UTF-8"',
      'application/json ; x=y',
    ])
      expect([200, 202]).toContain((await door.post(body, { ...headers, 'content-type': type })).status);
  });

  it('batches that are empty, too long, nested or hold initialize are 400 with -32600 (T-136, T-151)', async () => {
    const door = doorOf(name);
    const { body, headers } = call(door);
    const one = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
    const many = (count: number): string =>
      `[${Array.from({ length: count }, (_, id) => one(id)).join(',')}]`;
    const notification = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    const batches: [string, string][] = [
      ['empty', '[]'],
      ['101', many(101)],
      ['10,000', many(10_000)],
      ['100,000 of nothing', `[${'1,'.repeat(99_999)}1]`],
      ['100,000 empty arrays', `[${'[],'.repeat(99_999)}[]]`],
      ['nested', `[[${one(1)}]]`],
      ['deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
      ['initialize first', `[${initialize()},${one(1)}]`],
      ['initialize last', `[${one(1)},${initialize()}]`],
      ['initialize alone', `[${initialize()}]`],
      ['two initialize', `[${initialize()},${initialize('2025-03-26', 1)}]`],
      ['a bad one among good', `[${one(1)},1]`],
      ['null', '[null]'],
    ];
    // Rest has batches of any revision; the others have them in 2025-03-26 alone.
    if (name !== 'rest')
      batches.push(
        ['of this revision', `[${body},${notification}]`],
        ['mixed eras', `[${one(1)},${call(doorOf('mcp 2026')).body}]`],
      );
    for (const [what, sent] of batches) {
      const answer = await door.post(sent, headers);
      expect([what, answer.status, codeOf(answer)]).toEqual([what, 400, -32600]);
      expect(answer.ms).toBeLessThan(patience(1000));
    }
  });

  it('what is no JSON-RPC message is 400 with -32600 (T-142)', async () => {
    const door = doorOf(name);
    const { headers } = call(door);
    const others = [
      '1',
      '"x"',
      'null',
      'true',
      '{}',
      '{"jsonrpc":"1.0","id":1,"method":"ping"}',
      '{"jsonrpc":"2.0","id":null,"method":"ping"}',
      '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
      '{"jsonrpc":"2.0","id":{},"method":"ping"}',
      '{"jsonrpc":"2.0","id":[],"method":"ping"}',
      '{"jsonrpc":"2.0","id":1e400,"method":"ping"}',
      '{"jsonrpc":"2.0","id":true,"method":"ping"}',
      '{"jsonrpc":"2.0","id":1,"method":null}',
      '{"jsonrpc":"2.0","id":1,"method":["ping"]}',
      '{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}',
      '{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}',
      '{"jsonrpc":"2.0","id":1}',
      '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}',
      '{"__proto__":{"jsonrpc":"2.0"},"id":1,"method":"ping"}',
    ];
    for (const sent of others) {
      const answer = await door.post(sent, headers);
      expect([sent, answer.status, codeOf(answer)]).toEqual([sent, 400, -32600]);
    }
  });

  it('names of the prototype are names like any other (T-137, T-151)', async () => {
    const door = doorOf(name);
    const unknown = [-32601, -32602];
    for (const odd of [
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'hasOwnProperty',
      '__defineGetter__',
      'constructor.prototype',
    ]) {
      const method = (await door.ask(odd, {}, `m-${odd}`)).error as { code: number };
      expect([odd, method.code]).toEqual([odd, -32601]);
      for (const [of, params] of [
        ['tools/call', { name: odd, arguments: {} }],
        ['prompts/get', { name: odd, arguments: {} }],
        ['resources/read', { uri: odd }],
        [
          'completion/complete',
          { ref: { type: 'ref/prompt', name: odd }, argument: { name: odd, value: odd } },
        ],
        ['logging/setLevel', { level: odd }],
      ] as const) {
        const { error, result } = await door.ask(of, params, `${of}-${odd}`);
        if (result) expect((result as { isError?: boolean }).isError).toBe(true);
        else
          expect([of, odd, [...unknown, -32002].includes((error as { code: number }).code)]).toEqual([
            of,
            odd,
            true,
          ]);
      }
    }
    const hostile =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"query":"x","query":"y"}';
    const written = door.write('tools/call', { name: 'search_notes', arguments: {} }, 'hostile');
    const answer = await door.post(
      written.body.replace('"arguments":{}', `"arguments":${hostile}`),
      written.headers,
    );
    expect(answer.status).toBeLessThan(500);
    const token = door.write('tools/list', { _meta: { progressToken: '__proto__' } }, 'token');
    expect((await door.post(token.body, token.headers)).status).toBeLessThan(300);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('what servers would drop without a word is answered (T-142, T-135)', async () => {
    const door = doorOf(name);
    const meta = { 'io.modelcontextprotocol/related-task': 5 };
    const changes: [string, (message: { params: { _meta?: object } }) => object, boolean][] = [
      ['a result beside the method', (message) => ({ ...message, result: {} }), false],
      ['an error beside the method', (message) => ({ ...message, error: { code: 1, message: 'x' } }), false],
      ['no metadata', (message) => ({ ...message, params: { _meta: null } }), false],
      [
        'a task without a name',
        ({ params, ...message }) => ({ ...message, params: { _meta: { ...params._meta, ...meta } } }),
        false,
      ],
      ['a member more', (message) => ({ ...message, more: 1 }), true],
      [
        'a token that is none',
        ({ params, ...message }) => ({
          ...message,
          params: { _meta: { ...params._meta, progressToken: {} } },
        }),
        false,
      ],
    ];
    for (const [what, change, isServed] of changes) {
      const { body, headers } = door.write('tools/list', {}, what);
      const answer = await door.post(JSON.stringify(change(JSON.parse(body))), headers);
      expect([what, answer.status < 300]).toEqual([what, isServed]);
      expect(answer.ms).toBeLessThan(patience(900));
      if (answer.status === 202) await expect.poll(() => door.heard().includes(`"id":"${what}"`)).toBe(true);
    }
  });

  it('a request whose own members come by __proto__ has none (T-137)', async () => {
    const door = doorOf(name);
    const { headers } = call(door);
    const sent = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"__proto__":{"name":"whoami"}}}';
    const answer = await door.post(sent, headers);
    expect(answer.status).toBeLessThan(500);
    expect(answer.body).not.toContain(ada.email);
  });

  it('is not opened by another account: its session is not there for anybody else (T-125, T-126)', async () => {
    const door = doorOf(name);
    if (name === 'rest' || name === 'mcp 2026') return;
    const { body, headers } = call(door);
    const other = name === 'messages' ? stranger.sse : stranger.mcp;
    const answer = await door.post(body, { ...headers, authorization: `Bearer ${other}` });
    expect(answer.status).toBe(404);
    const sameAccountOtherClient = await enter(gatehouse);
    const token = name === 'messages' ? sameAccountOtherClient.sse : sameAccountOtherClient.mcp;
    expect((await door.post(body, { ...headers, authorization: `Bearer ${token}` })).status).toBe(404);
  });

  it('a body over the limit is 413, announced or not, with credentials or without (T-134, T-151)', async () => {
    const door = doorOf(name);
    const { headers } = call(door);
    const large = 'x'.repeat(4 * 1024 * 1024 + 1);
    for (const authorization of [door.headers.authorization, undefined, 'Bearer wrong']) {
      const announced = await send(gatehouse, door.path, {
        headers: { ...door.headers, ...headers, authorization, 'content-length': String(large.length) },
      });
      expect([announced.status, codeOf(announced)]).toEqual([413, -32000]);
    }
    const {
      'content-type': type = '',
      accept = '',
      authorization = '',
      ...more
    } = { ...door.headers, ...headers };
    const chunked = await send(gatehouse, door.path, {
      headers: { ...more, 'content-type': type, accept, authorization, 'transfer-encoding': 'chunked' },
      body: large,
    });
    expect([chunked.status, codeOf(chunked)]).toEqual([413, -32000]);
  });

  it('goes on after all of it', async () => {
    expect((await doorOf(name).ask('tools/list', {}, 'last')).result).toBeDefined();
  });
});
