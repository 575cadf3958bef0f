import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modernRequest } from '../../mcp/support/gate.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { patience } from '../../support/patience.ts';
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
let ann: Principal;
const doors = new Map<string, Door>();
const doorOf = (name: string): Door => doors.get(name) as Door;

beforeAll(async () => {
  gatehouse = await startGatehouse();
  ann = await enter(gatehouse);
  for (const name of doorNames) doors.set(name, await openDoor(gatehouse, name, ann));
});
afterAll(async () => {
  for (const door of doors.values()) door.close();
  expect(failures(gatehouse.log)).toEqual([]);
  await gatehouse.stop();
});

/** Writes pieces to a connection, and reads until it is closed or nothing came for a while. */
async function exchange(
  pieces: readonly (string | Uint8Array)[],
  { pauseMs = 0, quietMs = 400, answers = 0 } = {},
): Promise<string> {
  const { hostname, port } = new URL(gatehouse.listensAt);
  const socket = connect(Number(port), hostname);
  let text = '';
  let last = performance.now();
  let isOver = false;
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isOver = true;
  });
  socket.on('data', (chunk) => {
    text += chunk;
    last = performance.now();
  });
  for (const piece of pieces) {
    socket.write(piece);
    if (pauseMs > 0) await sleep(pauseMs);
  }
  last = performance.now();
  // A busy machine may take its time for what must come; then nothing more may come for a while.
  for (const begun = last; !isOver && statuses(text).length < answers && performance.now() - begun < 15_000; )
    await sleep(10);
  last = performance.now();
  while (!isOver && performance.now() - last < quietMs) await sleep(10);
  socket.destroy();
  return text;
}

const statuses = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)]
    .map(([, status]) => Number(status))
    .filter((status) => status !== 100);
const fieldsOf = (door: Door, more: Record<string, string> = {}): string =>
  Object.entries({ host: 'localhost', ...door.headers, ...more })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
const request = (door: Door, body: string, more: Record<string, string> = {}): string =>
  `POST ${door.path} HTTP/1.1\r\n${fieldsOf(door, { 'content-length': String(Buffer.byteLength(body)), ...more })}\r\n${body}`;

describe.each(doorNames)('on the wire at the door %s', (name) => {
  const list = (id: unknown = 1) => doorOf(name).write('tools/list', {}, id);

  it('framing that could be read in two ways is refused, and nothing behind it is run (T-111)', async () => {
    const door = doorOf(name);
    const { body, headers } = list();
    const smuggled = request(door, body, headers);
    const chunk = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const fields = fieldsOf(door, headers);
    const heads: [string, string][] = [
      ['length and chunks', `content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`],
      ['two lengths', `content-length: 4\r\ncontent-length: 5\r\n\r\n${body}`],
      ['a list of lengths', `content-length: 4, 4\r\n\r\n${body}`],
      ['a length with a sign', `content-length: +4\r\n\r\n${body}`],
      ['a length below nothing', `content-length: -1\r\n\r\n${body}`],
      ['a hexadecimal length', `content-length: 0x10\r\n\r\n${body}`],
      ['an endless length', `content-length: 99999999999999999999999\r\n\r\n${body}`],
      ['an unknown coding', `transfer-encoding: xchunked\r\n\r\n${chunk}`],
      ['chunked not last', `transfer-encoding: chunked, identity\r\n\r\n${chunk}`],
      ['a folded field', `transfer-encoding:\r\n chunked\r\n\r\n${chunk}`],
      ['a blank before the colon', `transfer-encoding : chunked\r\n\r\n${chunk}`],
      ['a size that is none', 'transfer-encoding: chunked\r\n\r\nzz\r\nx\r\n0\r\n\r\n'],
      ['a size too large', 'transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\nx\r\n0\r\n\r\n'],
      ['a NUL in a field', `x: a\0b\r\ncontent-length: 4\r\n\r\n${body}`],
      ['a CR in a field', `x: a\rb: c\r\ncontent-length: 4\r\n\r\n${body}`],
    ];
    for (const [what, rest] of heads) {
      const text = await exchange([`POST ${door.path} HTTP/1.1\r\n${fields}${rest}${smuggled}`], {
        quietMs: 150,
        answers: 1,
      });
      const found = statuses(text);
      expect([what, found.length === 1 && found.every((status) => status >= 400 && status < 500)]).toEqual([
        what,
        true,
      ]);
    }
  });

  it('a body may come in any number of pieces, its answer is the same', async () => {
    const door = doorOf(name);
    const { body, headers } = list('pieces');
    const bytes = [...Buffer.from(body)].map((byte) => `1\r\n${String.fromCharCode(byte)}\r\n`).join('');
    const head = `POST ${door.path} HTTP/1.1\r\n${fieldsOf(door, { ...headers, 'transfer-encoding': 'chunked' })}\r\n`;
    expect([200, 202]).toContain(statuses(await exchange([`${head}${bytes}0\r\n\r\n`]))[0]);
    const pieces = [...`${head}${bytes}0\r\nX-Trailer: y\r\n\r\n`].reduce<string[]>((all, one, at) => {
      if (at % 97 === 0) all.push('');
      all[all.length - 1] += one;
      return all;
    }, []);
    expect([200, 202]).toContain(statuses(await exchange(pieces, { pauseMs: 1 }))[0]);
    const padded = `{${' '.repeat(300_000)}${body.slice(1)}`;
    const many = `${[...padded].map((one) => `1;ext=x\r\n${one}\r\n`).join('')}0\r\n\r\n`;
    const began = performance.now();
    const [status = 0] = statuses(await exchange([head, many], { quietMs: 1500 }));
    // Node ends a connection whose chunk extensions add up to much more than the body.
    expect([0, 200, 202, 400, 413]).toContain(status);
    expect(performance.now() - began).toBeLessThan(patience(6000));
  });

  it('requests that come one behind the other are answered in their order, each its own (T-127)', async () => {
    const door = doorOf(name);
    const count = 20;
    const text = await exchange(
      [
        Array.from({ length: count }, (_, at) => {
          const { body, headers } = list(`pipelined-${at}`);
          return request(door, body, headers);
        }).join(''),
      ],
      { answers: name === 'rest' ? 1 : count },
    );
    // Rest ends the connection with its first answer.
    const expected = name === 'rest' ? 1 : count;
    expect(statuses(text).length).toBe(expected);
    if (name === 'messages') return;
    const ids = [...text.matchAll(/"id":"pipelined-(\d+)"/g)].map(([, at]) => Number(at));
    expect(ids).toEqual(Array.from({ length: expected }, (_, at) => at));
  });

  it('who asks whether to go on with a body too large or without a token is told no (T-134)', async () => {
    const door = doorOf(name);
    const tooLarge = fieldsOf(door, { 'content-length': '5000000', expect: '100-continue' });
    expect(
      statuses(await exchange([`POST ${door.path} HTTP/1.1\r\n${tooLarge}\r\n`], { answers: 1 })),
    ).toEqual([413]);
    const nobody = fieldsOf({ ...door, headers: {} }, { 'content-length': '10', expect: '100-continue' });
    expect(statuses(await exchange([`POST ${door.path} HTTP/1.1\r\n${nobody}\r\n`], { answers: 1 }))).toEqual(
      [401],
    );
    const strange = fieldsOf(door, { 'content-length': '10', expect: 'something' });
    expect(
      statuses(await exchange([`POST ${door.path} HTTP/1.1\r\n${strange}\r\n`], { answers: 1 })),
    ).toEqual([417]);
  });

  it('one Host, a path, and no other form of target: else 400, and nothing is run (T-107, T-110)', async () => {
    const door = doorOf(name);
    const { body, headers } = list();
    const fields = fieldsOf(door, { ...headers, 'content-length': String(body.length) });
    const foreign = fields.replace('host: localhost', 'host: evil.example:1@localhost');
    const heads: [string, string][] = [
      ['absolute', `POST http://localhost${door.path} HTTP/1.1\r\n${fields}\r\n${body}`],
      ['absolute and foreign', `POST http://evil.example${door.path} HTTP/1.1\r\n${fields}\r\n${body}`],
      ['asterisk', `OPTIONS * HTTP/1.1\r\n${fields}\r\n${body}`],
      ['two hosts', `POST ${door.path} HTTP/1.1\r\nhost: evil.example\r\n${fields}\r\n${body}`],
      ['no host', `POST ${door.path} HTTP/1.1\r\n${fields.replace('host: localhost\r\n', '')}\r\n${body}`],
      ['empty host', `POST ${door.path} HTTP/1.1\r\n${fields.replace('localhost', '')}\r\n${body}`],
      ['user in host', `POST ${door.path} HTTP/1.1\r\n${foreign}\r\n${body}`],
      ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
      ['no version', `POST ${door.path}\r\n\r\n`],
      ['TLS', '\x16\x03\x01\x02\x00\x01\x00'],
    ];
    for (const [what, text] of heads) {
      const found = statuses(await exchange([text], { quietMs: 150 }));
      expect([what, found.every((status) => status === 400)]).toEqual([what, true]);
    }
  });

  it('headers in any number and length are answered in time (T-147, T-108)', async () => {
    const door = doorOf(name);
    const { body, headers } = list();
    const long = (unit: string, length = 14_000): string => unit.repeat(Math.floor(length / unit.length));
    const odd: Record<string, string>[] = [
      { accept: `${long('a/b;q=0.1,')}application/json, text/event-stream` },
      { accept: long(',') },
      { accept: long(';') },
      { accept: long('*/*;q=0;') },
      { accept: `${long(' ')}x` },
      { 'content-type': `application/json${long(';')}` },
      { 'content-type': `application/json;${long(' ')}charset=utf-8` },
      { 'content-type': `application/json; charset=${long('"utf-8')}` },
      { 'last-event-id': long('a/1') },
      { 'mcp-session-id': long('a') },
      { 'mcp-protocol-version': long('2025-11-25,') },
      { 'mcp-name': `=?base64?${long('A')}?=` },
      { 'mcp-name': `=?base64?${long('=?base64?')}?=` },
      { 'mcp-param-region': `=?base64?${long('====')}?=` },
      { 'mcp-method': long('tools/list ') },
      { authorization: `Bearer ${long('a ')}` },
      { authorization: `Bearer${long('\t')}x` },
      { origin: `http://${long('a.')}` },
      { 'x-forwarded-for': long('1.1.1.1,') },
      { 'x-forwarded-proto': long(' ,') },
      { cookie: long('a=b;') },
      { 'access-control-request-headers': long('x,') },
    ];
    for (const header of odd) {
      const answer = await door.post(body, { ...headers, ...header });
      expect([Object.keys(header)[0], answer.status < 500]).toEqual([Object.keys(header)[0], true]);
      expect(answer.ms).toBeLessThan(patience(300));
    }
    const tooMuch = await exchange([request(door, body, { ...headers, x: 'y'.repeat(20_000) })]);
    expect(statuses(tooMuch)[0] ?? 431).toBe(431);
    const names = Object.fromEntries(Array.from({ length: 1900 }, (_, at) => [`x${at}`, '']));
    expect((await door.post(body, { ...headers, ...names })).status).toBeLessThan(500);
  });
});

describe('the era of a request (T-132, T-133)', () => {
  const { headers: own = {}, json } = modernRequest('tools/call', {
    name: 'search_notes',
    arguments: { query: 'x' },
  });
  const body = JSON.stringify(json);
  const post = (headers: Record<string, string | undefined>, sent = body) => {
    const { authorization = '' } = doorOf('mcp 2026').headers;
    const all = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization,
      ...own,
      ...headers,
    };
    return send(gatehouse, '/mcp', { headers: all, body: sent });
  };

  it('headers that say something else than the body, or nothing, are 400 with -32020 (T-132)', async () => {
    expect((await post({})).status).toBe(200);
    const wrong: Record<string, string | undefined>[] = [
      { 'mcp-method': undefined },
      { 'mcp-method': '' },
      { 'mcp-method': 'tools/list' },
      { 'mcp-method': 'TOOLS/CALL' },
      { 'mcp-method': 'tools/call, tools/call' },
      { 'mcp-name': undefined },
      { 'mcp-name': 'add_note' },
      { 'mcp-name': 'search_notes, search_notes' },
      { 'mcp-name': '=?base64?c2VhcmNoX25vdGVz' },
      { 'mcp-name': '=?base64?c2VhcmNoX25vdGVzAA==?=' },
      { 'mcp-name': '=?base64?%%%?=' },
      { 'mcp-name': '=?base64?/w==?=' },
      { 'mcp-protocol-version': undefined },
    ];
    for (const headers of wrong) {
      const answer = await post(headers);
      expect([headers, answer.status, codeOf(answer)]).toEqual([headers, 400, -32020]);
    }
    expect(
      (await post({ 'mcp-name': `=?base64?${Buffer.from('search_notes').toString('base64')}?=` })).status,
    ).toBe(200);
  });

  it('a revision that is not served is 400, and none that is left out or mixed runs anything (T-133)', async () => {
    const unknown = await post(
      { 'mcp-protocol-version': '2027-01-01' },
      body.replace('2026-07-28', '2027-01-01'),
    );
    expect([unknown.status, codeOf(unknown)]).toEqual([400, -32022]);
    const mixed: [string, Record<string, string | undefined>, string?][] = [
      [
        'modern body, older header',
        { 'mcp-protocol-version': '2025-11-25', 'mcp-method': undefined, 'mcp-name': undefined },
      ],
      ['modern body, older header and names', { 'mcp-protocol-version': '2025-11-25' }],
      [
        'modern body, no headers',
        { 'mcp-protocol-version': undefined, 'mcp-method': undefined, 'mcp-name': undefined },
      ],
      [
        'older body, modern headers',
        {},
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_notes","arguments":{"query":"x"}}}',
      ],
      ['initialize, modern headers', {}, initialize()],
      ['two versions', { 'mcp-protocol-version': '2026-07-28, 2025-11-25' }],
      [
        'no session',
        { 'mcp-protocol-version': '2025-11-25', 'mcp-method': undefined, 'mcp-name': undefined },
        '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      ],
      [
        'a batch without a version',
        { 'mcp-protocol-version': undefined, 'mcp-method': undefined, 'mcp-name': undefined },
        `[${body}]`,
      ],
      ['a batch of this revision', {}, `[${body}]`],
      ['a batch of two', {}, `[${body},${body}]`],
    ];
    for (const [what, headers, sent] of mixed) {
      const answer = await post(headers, sent);
      expect([what, answer.status]).toEqual([what, 400]);
    }
  });

  it('every era asks for a token and an origin alike (T-133, T-131)', async () => {
    for (const version of [undefined, '2024-11-05', '2025-03-26', '2025-11-25', '2026-07-28', 'x']) {
      expect((await post({ 'mcp-protocol-version': version, authorization: undefined })).status).toBe(401);
      expect((await post({ 'mcp-protocol-version': version, origin: 'http://evil.example' })).status).toBe(
        403,
      );
    }
  });
});

describe('patterns of names and URIs (T-147)', () => {
  it.each(doorNames)('long ones are answered in 50 ms more than short ones: %s', async (name) => {
    const door = doorOf(name);
    const time = async (uri: string): Promise<number> => {
      const tries: number[] = [];
      for (let at = 0; at < 3; at++) {
        const began = performance.now();
        await door.ask('resources/read', { uri }, `${uri.length}-${uri.slice(8, 12)}-${at}-${tries.join()}`);
        tries.push(performance.now() - began);
      }
      // What was slow by accident is not slow each time.
      return Math.min(...tries);
    };
    await time('notes://1');
    const short = await time('notes://1');
    for (const uri of [
      '1,'.repeat(3000),
      '%41'.repeat(2000),
      '{/id*}'.repeat(1000),
      '../'.repeat(2000),
      `${'a'.repeat(7000)}X`,
    ])
      expect((await time(`notes://${uri}`)) - short).toBeLessThan(50);
  });
});
