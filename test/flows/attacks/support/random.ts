/** A source of choices that repeats itself for the same seed. */
export interface Random {
  /** A whole number from 0 up to, and without, `below`. */
  below(below: number): number;
  one<T>(list: readonly T[]): T;
  /** Whether something happens that happens once in `times`. */
  once(times: number): boolean;
}

/** Creates one (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    one: (list) => list[below(list.length)] as (typeof list)[number],
    once: (times) => below(times) === 0,
  };
}

const words = [
  '',
  'a',
  '__proto__',
  'constructor',
  'toString',
  'name',
  'uri',
  'cursor',
  'arguments',
  '_meta',
  'progressToken',
  'search_notes',
  'add_note',
  'whoami',
  'notes://1',
  'notes://{id}',
  '../../etc/passwd',
  '\u0000',
  '\n\ndata: x',
  '\u2028',
  '💥',
  '%00',
  'x'.repeat(9000),
  '2025-11-25',
  '2026-07-28',
  'NaN',
  "' OR 1=1 --",
];
const methods = [
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'logging/setLevel',
  'server/discover',
  'subscriptions/listen',
  'tasks/get',
  'tasks/cancel',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
  'rpc.discover',
];

/** Any JSON value; deep ones are rare. */
export function anyValue(random: Random, depth = 0): unknown {
  const kind = random.below(depth > 4 ? 7 : 10);
  if (kind < 2) return random.one(words);
  if (kind === 2) return random.below(1000) - 500;
  if (kind === 3) return random.one([0.5, -0, 1e300, 2 ** 53, 2 ** 31, -(2 ** 63)]);
  if (kind === 4) return random.one([true, false, null]);
  if (kind < 7) return random.one(methods);
  const size = random.below(5);
  if (kind === 7) return Array.from({ length: size }, () => anyValue(random, depth + 1));
  return Object.fromEntries(
    Array.from({ length: size }, () => [random.one(words), anyValue(random, depth + 1)]),
  );
}

/** Something like a JSON-RPC message, often a good one. */
export function anyMessage(random: Random): unknown {
  const params = random.one<() => unknown>([
    () => ({}),
    () => ({ name: random.one(words), arguments: anyValue(random) }),
    () => ({ uri: random.one(words) }),
    () => ({ requestId: random.below(5), reason: random.one(words) }),
    () => ({ cursor: anyValue(random) }),
    () => ({
      level: random.one(words),
      notifications: anyValue(random),
      ref: anyValue(random),
      argument: anyValue(random),
    }),
    () => ({
      protocolVersion: random.one(words),
      capabilities: anyValue(random),
      clientInfo: { name: random.one(words), version: '1' },
    }),
    () => ({ _meta: anyValue(random), requestState: anyValue(random), inputResponses: anyValue(random) }),
    () => anyValue(random),
  ])();
  const message: Record<string, unknown> = {
    jsonrpc: '2.0',
    id: random.below(5),
    method: random.one(methods),
    params,
  };
  if (random.once(6)) delete message.id;
  if (random.once(8)) message.id = anyValue(random);
  if (random.once(10)) message.method = anyValue(random);
  if (random.once(12)) delete message.method;
  if (random.once(12)) message[random.one(['result', 'error'])] = anyValue(random);
  if (random.once(20)) message.jsonrpc = anyValue(random);
  return message;
}

/** A body with a message, or several, now and then with bytes that were changed, left out or added. */
export function anyBody(random: Random, wrap: (message: unknown) => unknown): Buffer {
  const value = random.once(8)
    ? Array.from({ length: random.below(5) }, () => wrap(anyMessage(random)))
    : wrap(anyMessage(random));
  const bytes = Buffer.from(JSON.stringify(random.once(15) ? anyValue(random) : value) ?? '');
  if (!random.once(5) || bytes.length === 0) return bytes;
  const at = random.below(bytes.length);
  const more = Buffer.from([random.below(256)]);
  return random.one([
    () => Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]),
    () => Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at + 1)]),
    () => bytes.subarray(0, at),
    () => Buffer.concat([bytes.subarray(at), bytes]),
  ])();
}

/** Headers over those a request has. */
export function anyHeaders(random: Random): Record<string, string> {
  const headers: Record<string, string> = {};
  const values: Record<string, readonly string[]> = {
    accept: ['*/*', '', 'text/event-stream', 'application/json', 'a/b;q=0, */*', ';;,,'],
    'content-type': ['application/json', 'application/json;charset=utf-8', 'text/plain', '', ';'],
    'content-encoding': ['identity', 'gzip', ''],
    'mcp-protocol-version': [
      '2024-11-05',
      '2025-03-26',
      '2025-06-18',
      '2025-11-25',
      '2026-07-28',
      '2099-01-01',
      'x',
      '',
    ],
    'mcp-session-id': ['', 'x', 'a, b'],
    'mcp-method': [...methods, ''],
    'mcp-name': ['search_notes', '=?base64?YQ==?=', '=?base64?', 'x'],
    'mcp-param-x': ['1', ''],
    'last-event-id': ['x', 'a/1', 'waiting/0', 'own-a/0', ''],
    authorization: ['Bearer x', 'Basic x', ''],
    origin: ['null', 'http://localhost:1', 'http://evil.example'],
    cookie: ['a=b', '__proto__=x'],
    expect: ['100-continue'],
    connection: ['close', 'keep-alive', 'upgrade'],
    'x-forwarded-for': ['1.2.3.4', '::1, x'],
  };
  for (let count = random.below(3); count > 0; count--) {
    const name = random.one(Object.keys(values));
    headers[name] = random.one(values[name] ?? ['']);
  }
  return headers;
}
