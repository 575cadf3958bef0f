import { createRandom, type Random } from '../../flows/attacks/support/random.ts';
import { type JsonText, jsonText, sourceOf, valuesOf } from './json-text.ts';

/** Ways in. `session` and `stateless` are Streamable HTTP up to 2025-11-25. */
export type DoorName = 'session' | 'stateless' | 'modern' | 'sse' | 'rest';

/** A hostile message as it can be made again: a well-formed one, and what is done to it, in order. */
export interface Shot {
  door: DoorName;
  /** Chooses the well-formed message. */
  seed: number;
  mutations: readonly { name: string; seed: number }[];
}

/** A hostile message as it is sent. */
export interface Written {
  body: Buffer;
  headers: Record<string, string | string[]>;
}

/** How names begin at a target: with the key of a backend if several backends are one. */
export interface Naming {
  keys?: readonly string[];
}

interface KeyedNaming {
  key?: string | undefined;
}

const uris = {
  allowed: ['note://public/1', 'file:///srv/open/a'],
  forbidden: ['note://secret/1', 'note://secret', 'file:///srv/locked/a'],
};
const toolNames = { allowed: ['read_note'], forbidden: ['delete_all', 'write_note'] };
const promptNames = { allowed: ['praise'], forbidden: ['wicked_prompt'] };

const plainMethods = ['ping', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];
const namingMethods = [
  'tools/call',
  'tools/call',
  'prompts/get',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'subscriptions/listen',
];
const otherMethods = [
  'initialize',
  'server/discover',
  'logging/setLevel',
  'tasks/get',
  'tasks/result',
  'tasks/list',
  'tasks/cancel',
  'tasks/update',
  'skills/list',
  'skills/get',
  'resources/directory/read',
  'events/list',
  'events/subscribe',
  'events/unsubscribe',
  'events/poll',
  'ui/initialize',
  'ui/open-link',
  'ui/message',
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
  'rpc.discover',
  'x/run',
  'tools/run',
];
const notificationMethods = [
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
  'notifications/tasks/status',
  'notifications/message',
  'notifications/tools/list_changed',
  'notifications/elicitation/complete',
  'notifications/events/event',
  'notifications/x/run',
];

/** What a message is made of until it is written. */
interface Draft {
  random: Random;
  naming: KeyedNaming;
  door: DoorName;
  message: JsonText;
  method: string;
  /** Messages beside it, before or behind. */
  beside: { before: JsonText[]; behind: JsonText[] };
  headers: Record<string, string | string[]>;
  asBatch: boolean;
  /** What is done to the text at last. */
  onText: ((text: string) => string | Buffer)[];
}

const prefixed = (naming: KeyedNaming, name: string): string => (naming.key ? `${naming.key}_${name}` : name);
const prefixedUri = (naming: KeyedNaming, uri: string): string => (naming.key ? `${naming.key}+${uri}` : uri);

function paramsOf(method: string, random: Random, naming: KeyedNaming): Record<string, unknown> | undefined {
  const which = random.once(3) ? 'allowed' : 'forbidden';
  const tool = prefixed(naming, random.one(toolNames[which]));
  const prompt = prefixed(naming, random.one(promptNames[which]));
  const uri = prefixedUri(naming, random.one(uris[which]));
  switch (method) {
    case 'tools/call':
      return { name: tool, arguments: { text: 'ok' } };
    case 'prompts/get':
      return { name: prompt, arguments: { who: 'Ada' } };
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
    case 'resources/directory/read':
      return { uri };
    case 'completion/complete':
      return {
        ref: random.once(2) ? { type: 'ref/prompt', name: prompt } : { type: 'ref/resource', uri },
        argument: { name: 'who', value: 'A' },
      };
    case 'subscriptions/listen':
      return { notifications: { toolsListChanged: true, resourceSubscriptions: [uri] } };
    case 'initialize':
      return {
        protocolVersion: random.one(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']),
        capabilities: { elicitation: {} },
        clientInfo: { name: 'attacker', version: '1' },
      };
    case 'logging/setLevel':
      return { level: 'debug' };
    case 'tasks/get':
    case 'tasks/result':
    case 'tasks/cancel':
    case 'tasks/update':
      return { taskId: random.one(['1', 'task-1', '00000000-0000-0000-0000-000000000000']) };
    case 'skills/get':
    case 'tools/run':
    case 'x/run':
      return { name: random.one([tool, 'skill']), uri, arguments: {} };
    case 'events/subscribe':
      return { name: tool, uri, filter: {} };
    case 'notifications/cancelled':
      return { requestId: random.one([1, '1', 0]), reason: 'none' };
    case 'notifications/progress':
      return { progressToken: random.one([1, '1']), progress: 1 };
    default:
      return random.once(2) ? {} : undefined;
  }
}

function wellFormed(shot: Shot, { keys }: Naming): Draft {
  const random = createRandom(shot.seed);
  const naming = { key: keys && random.one(keys) };
  const kind = random.below(10);
  const isNotification = kind === 9;
  const method = isNotification
    ? random.one(notificationMethods)
    : random.one(kind < 6 ? namingMethods : kind < 7 ? plainMethods : otherMethods);
  const params = paramsOf(method, random, naming);
  const id = isNotification ? {} : { id: random.one<unknown>([1, 'a', 77, 'x'.repeat(40)]) };
  const whole = shot.door === 'modern' ? { ...params, _meta: modernMeta } : params;
  return {
    random,
    naming,
    door: shot.door,
    method,
    message: jsonText({ jsonrpc: '2.0', ...id, method, ...(whole && { params: whole }) }),
    beside: { before: [], behind: [] },
    headers: {},
    asBatch: false,
    onText: [],
  };
}

const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'attacker', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

type Members = [string, JsonText][];
const membersOf = (tree: JsonText | undefined): Members =>
  tree !== undefined && typeof tree !== 'string' && 'members' in tree ? tree.members : [];
const entryOf = (tree: JsonText | undefined, name: string): [string, JsonText] | undefined =>
  membersOf(tree).find(([key]) => key === JSON.stringify(name));
const quote = (text: string): string => JSON.stringify(text);

/** The member that names what a message uses, and where it stands. */
function guardIn(draft: Draft): { within: Members; entry: [string, JsonText] } | undefined {
  const params = entryOf(draft.message, 'params')?.[1];
  const places = [params, entryOf(params, 'ref')?.[1]];
  for (const place of places)
    for (const name of ['name', 'uri']) {
      const entry = entryOf(place, name);
      if (entry) return { within: membersOf(place), entry };
    }
  const listened = entryOf(entryOf(params, 'notifications')?.[1], 'resourceSubscriptions');
  if (listened && typeof listened[1] !== 'string' && 'items' in listened[1] && listened[1].items.length > 0) {
    const { items } = listened[1];
    // An entry of a list is changed through a pair that writes back.
    const entry = ['', items[0]] as [string, JsonText];
    Object.defineProperty(entry, 1, {
      get: () => items[0],
      set: (value: JsonText) => items.splice(0, 1, value),
    });
    return { within: [], entry };
  }
  return undefined;
}

/** A complete message that uses something forbidden. */
function forbiddenCall({ random, naming, door }: Draft, id: unknown = 99): JsonText {
  const meta = door === 'modern' ? { _meta: modernMeta } : {};
  return jsonText(
    random.one([
      {
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: prefixed(naming, 'delete_all'), arguments: {}, ...meta },
      },
      {
        jsonrpc: '2.0',
        id,
        method: 'resources/read',
        params: { uri: prefixedUri(naming, 'note://secret/1'), ...meta },
      },
      {
        jsonrpc: '2.0',
        id,
        method: 'prompts/get',
        params: { name: prefixed(naming, 'wicked_prompt'), ...meta },
      },
      { jsonrpc: '2.0', id, method: 'skills/list', params: { ...meta } },
    ]),
  );
}

function allowedCall({ naming, door }: Draft, id: unknown = 98): JsonText {
  const meta = door === 'modern' ? { _meta: modernMeta } : {};
  const params = { name: prefixed(naming, 'read_note'), arguments: { text: 'ok' }, ...meta };
  return jsonText({ jsonrpc: '2.0', id, method: 'tools/call', params });
}

/** Another value of another type that some server reads as the same name. */
function anotherType(random: Random, value: JsonText): JsonText {
  const source = sourceOf(value);
  return random.one<JsonText>([
    { items: [value] },
    { items: [{ items: [value] }] },
    { items: [value, value] },
    { items: ['"read_note"', value] },
    { members: [['"toString"', value]] },
    {
      members: [
        ['"0"', value],
        ['"length"', '1'],
      ],
    },
    { members: [['"name"', value]] },
    {
      members: [
        ['"uri"', value],
        ['"href"', value],
      ],
    },
    { members: [['"value"', value]] },
    { members: [['"__proto__"', { members: [['"name"', value]] }]] },
    { members: [[source.startsWith('"') ? source : '"x"', 'true']] },
    'null',
    'true',
    'false',
    '0',
    '1e3',
    '-0',
    '""',
    { items: [] },
    { members: [] },
  ]);
}

const letters: Record<string, string[]> = {
  a: ['а', 'ａ', 'ª', 'á', 'a\u0301', 'A'],
  e: ['е', 'ｅ', 'é', 'E', 'e\u0301'],
  l: ['ｌ', 'ⅼ', 'ӏ', 'L', 'I'],
  o: ['о', 'ｏ', 'º', 'O', '0'],
  s: ['ѕ', 'ｓ', 'ſ', 'S'],
  d: ['ԁ', 'ｄ', 'ⅾ', 'D'],
  c: ['с', 'ｃ', 'ⅽ', 'C'],
  i: ['і', 'ｉ', 'ⅰ', 'ı', 'I'],
  t: ['ｔ', 'T'],
  _: ['＿', '-', '\u203f', ' '],
  '/': ['／', '\u2044', '\u2215', '//', '\\', '%2f', '/./', '/;x/'],
};
const unseen = [
  '\u200b',
  '\u200d',
  '\u2060',
  '\ufeff',
  '\u00ad',
  '\u0000',
  '\u202e',
  '\u{e0061}',
  '\u0301',
  '\t',
  '\n',
  ' ',
  '\r\n',
  '\u00a0',
  '\u2028',
];

/** Another spelling of a name. */
function spell(random: Random, name: string): string {
  const at = random.below(name.length + 1);
  const letter = random.below(Math.max(1, name.length));
  switch (random.below(12)) {
    case 0:
      return name.toUpperCase();
    case 1:
      return name.slice(0, at) + random.one(unseen) + name.slice(at);
    case 2:
      return random.one(unseen) + name;
    case 3:
      return name + random.one(unseen);
    case 4:
      return [...name].map((one) => letters[one]?.[1] ?? one).join('');
    case 5:
      return (
        name.slice(0, letter) +
        // Half of a surrogate pair has no encoding.
        encodeURIComponent((name[letter] ?? '').toWellFormed()).replace(
          /^(.)$/,
          (one) => `%${one.charCodeAt(0).toString(16)}`,
        ) +
        name.slice(letter + 1)
      );
    case 6:
      return [...name].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');
    case 7:
      return `${name}${random.one(['/', '.', ';x', '?x', '#x', '%00', '\u0000.read_note', '/../read_note', '*', '"', "'", '()'])}`;
    case 8:
      return `${random.one(['/', './', '../', 'read_note/../', 'tools/', '__proto__.', 'x.', '_'])}${name}`;
    default:
      return (
        name.slice(0, letter) + random.one(letters[name[letter] ?? ''] ?? ['?']) + name.slice(letter + 1)
      );
  }
}

/** Another spelling of a URI, most of them of the same place. */
function spellUri(random: Random, uri: string): string {
  const [, key = '', scheme = '', rest = ''] = /^([a-z]+\+)?([a-z]+):(.*)$/s.exec(uri) ?? [];
  const host = /^\/\/([^/]*)(.*)$/s.exec(rest);
  const [, authority = '', path = ''] = host ?? [];
  const at = random.below(Math.max(1, rest.length - 2)) + 2;
  switch (random.below(20)) {
    case 0:
      return `${key}${scheme.toUpperCase()}:${rest}`;
    case 1:
      return `${key}${scheme}://${authority.toUpperCase()}${path}`;
    case 2:
      return `${key}${scheme}:/${rest}`;
    case 3:
      return `${key}${scheme}:///${authority}${path}`;
    case 4:
      return `${key}${scheme}:////${authority}${path}`;
    case 5:
      return `${key}${scheme}:${rest.replaceAll('/', '\\')}`;
    case 6:
      return `${key}${scheme}://user:pw@${authority}${path}`;
    case 7:
      return `${key}${scheme}://${authority}${authority ? `:${random.one(['', '80', '0', '65535'])}` : ''}${path}`;
    case 8:
      return `${key}${scheme}://${authority}${authority ? random.one(['.', '..', ';x', '%2e']) : ''}${path}`;
    case 9:
      return `${key}${scheme}://${authority}${path.replace(/\/([^/]*)/, random.one(['/;x/$1', '/./$1', '//$1', '/$1;x=1', '/%2e/$1', '/$1.']))}`;
    case 10:
      return `${key}${scheme}:${random.one(['//public/../', '//public/..;/', '//public/%2e%2e/', '//public/..\\', '//public/x/../../'])}${authority}${path}`;
    case 11:
      return `${key}${scheme}:///srv/open/${random.one(['../', '..;/', '%2e%2e/', '..%2f', '..\\', '%252e%252e/', '.%2e/', '..%5c', '.\u200b./'])}locked/a`;
    case 12:
      return `${key}${scheme}:${rest.slice(0, at)}${random.one(unseen)}${rest.slice(at)}`;
    case 13:
      return `${key}${scheme}:${rest.slice(0, at)}%${(rest.charCodeAt(at) || 120).toString(16)}${rest.slice(at + 1)}`;
    case 14:
      return `${key}${scheme}:${rest.slice(0, at)}%25${(rest.charCodeAt(at) || 120).toString(16)}${rest.slice(at + 1)}`;
    case 15:
      return `${random.one(unseen)}${uri}`;
    case 16:
      return `${key}${scheme}:${rest.replace(/^\/\//, '')}`;
    case 17:
      return `${key}${scheme}:${random.one(['//localhost', '//127.0.0.1', '//LOCALHOST', '/'])}${path || rest}`;
    case 18:
      return `${key}${scheme}:${[...rest].map((one) => letters[one]?.[1] ?? one).join('')}`;
    default:
      return `${key}${scheme}:${rest}${random.one(['?x', '#x', '?/../', ' ', '\u0000', '/', '/.', '/..', '/../x', '%'])}`;
  }
}

function spellMethod(random: Random, method: string): string {
  const middle = method.indexOf('/');
  switch (random.below(10)) {
    case 0:
      return method.replace(/(^|\/)./g, (one) => one.toUpperCase());
    case 1:
      return `${method}${random.one([' ', '\t', '\n', '\u0000', '/', '.', '?x', '#', ';x', '\u200b', '%20', '/x'])}`;
    case 2:
      return `${random.one([' ', '/', './', '\u200b', '\ufeff', 'mcp/', 'x/', '$/', 'rpc.', '\u0000'])}${method}`;
    case 3:
      return middle < 0
        ? `${method}/`
        : `${method.slice(0, middle)}${random.one(['//', '/ /', '\\', '／', '%2f', '.', ':', '_', '', '/./', '/../tools/'])}${method.slice(middle + 1)}`;
    case 4:
      return method.toUpperCase();
    case 5:
      return `notifications/${method}`;
    case 6:
      return random.one(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '']);
    default:
      return spell(random, method);
  }
}

/** What is done to a message, each by its name. */
const mutations: Record<string, (draft: Draft) => void> = {
  'guard of another type'(draft) {
    const guard = guardIn(draft);
    if (guard) guard.entry[1] = anotherType(draft.random, guard.entry[1]);
  },
  'guard in another spelling'(draft) {
    const guard = guardIn(draft);
    if (!guard || typeof guard.entry[1] !== 'string' || !guard.entry[1].startsWith('"')) return;
    const name = JSON.parse(guard.entry[1]) as string;
    const isUri = name.includes(':') && !draft.random.once(6);
    guard.entry[1] = quote(isUri ? spellUri(draft.random, name) : spell(draft.random, name));
  },
  'method in another spelling'(draft) {
    const entry = entryOf(draft.message, 'method');
    if (entry) entry[1] = quote(spellMethod(draft.random, draft.method));
  },
  'method of another type'(draft) {
    const entry = entryOf(draft.message, 'method');
    if (entry) entry[1] = anotherType(draft.random, entry[1]);
  },
  'params of another type'({ message, random }) {
    const entry = entryOf(message, 'params');
    if (entry)
      entry[1] = random.one<JsonText>([
        { items: [entry[1]] },
        { items: membersOf(entry[1]).map(([, value]) => value) },
        quote(sourceOf(entry[1])),
        { members: [['"params"', entry[1]]] },
        { members: [['"__proto__"', entry[1]]] },
        'null',
        '0',
      ]);
  },
  'a member missing'(draft) {
    const params = entryOf(draft.message, 'params')?.[1];
    const guard = guardIn(draft);
    const within = draft.random.one([
      membersOf(draft.message),
      membersOf(params),
      guard?.within ?? [],
      membersOf(entryOf(params, 'ref')?.[1]),
    ]);
    if (within.length > 0) within.splice(draft.random.below(within.length), 1);
  },
  'a member twice'(draft) {
    const { random } = draft;
    const guard = guardIn(draft);
    const other = jsonText(
      random.one(['delete_all', 'read_note', 'wicked_prompt', 'note://secret/1', 'note://public/1']),
    );
    if (guard && guard.within.length > 0 && !random.once(3)) {
      const [key] = guard.entry;
      const twin = random.once(2) ? key : `"\\u00${key.charCodeAt(1).toString(16)}${key.slice(2)}`;
      guard.within.splice(random.below(guard.within.length + 1), 0, [twin, other]);
      return;
    }
    const members = membersOf(draft.message);
    const forbidden = membersOf(forbiddenCall(draft));
    const member = random.one(forbidden);
    members.splice(random.below(members.length + 1), 0, [...member]);
  },
  'a member in another case'(draft) {
    const { random } = draft;
    const forbidden = forbiddenCall(draft);
    const params = entryOf(draft.message, 'params')?.[1];
    const isInParams = random.once(2);
    const from = isInParams ? membersOf(entryOf(forbidden, 'params')?.[1]) : membersOf(forbidden);
    const to = isInParams ? membersOf(params) : membersOf(draft.message);
    if (from.length === 0 || to.length === 0) return;
    const [key, value] = random.one(from);
    const spelled = random.one([
      key.toUpperCase(),
      `"${(key[1] ?? '').toUpperCase()}${key.slice(2)}`,
      key.replace('s', '\u017f'),
    ]);
    to.splice(random.below(to.length + 1), 0, [spelled, value]);
  },
  'members of the prototype'(draft) {
    const { random } = draft;
    const forbidden = forbiddenCall(draft);
    const params = entryOf(draft.message, 'params')?.[1];
    const key = random.one(['"__proto__"', '"constructor"', '"prototype"']);
    if (random.once(2)) membersOf(params).push([key, entryOf(forbidden, 'params')?.[1] ?? 'null']);
    else membersOf(draft.message).push([key, forbidden]);
    const guard = guardIn(draft);
    if (guard && random.once(2)) guard.within.splice(guard.within.indexOf(guard.entry), 1);
  },
  'a batch'(draft) {
    const { random, beside } = draft;
    draft.asBatch = true;
    for (let count = random.below(4); count > 0; count--) beside.before.push(allowedCall(draft, count + 200));
    for (let count = random.below(3); count > 0; count--)
      beside.behind.push(
        random.once(2) ? allowedCall(draft, count + 300) : forbiddenCall(draft, count + 400),
      );
    if (random.once(5)) beside.behind.push({ items: [forbiddenCall(draft)] });
    if (random.once(8))
      beside.before.push(random.one<JsonText>(['null', '1', '"x"', { items: [] }, { members: [] }]));
  },
  'an odd id'({ message, random }) {
    const entry = entryOf(message, 'id');
    const id = random.one<JsonText>([
      'null',
      '1.5',
      '1e400',
      '-1',
      '0',
      '""',
      'true',
      { items: ['1'] },
      { members: [] },
      '9007199254740993',
      '"__proto__"',
      '1.0',
      `"${'i'.repeat(5000)}"`,
    ]);
    if (entry) entry[1] = id;
    else membersOf(message).push(['"id"', id]);
  },
  'no id'({ message }) {
    const members = membersOf(message);
    const at = members.findIndex(([key]) => key === '"id"');
    if (at >= 0) members.splice(at, 1);
  },
  'a response as well'({ message, random }) {
    membersOf(message).push(
      random.one<[string, JsonText]>([
        ['"result"', { members: [] }],
        [
          '"error"',
          {
            members: [
              ['"code"', '1'],
              ['"message"', '"x"'],
            ],
          },
        ],
        ['"result"', 'null'],
      ]),
    );
  },
  'a response instead'({ message, random }) {
    const members = membersOf(message);
    for (const name of ['"method"', '"params"']) {
      const at = members.findIndex(([key]) => key === name);
      if (at >= 0) members.splice(at, 1);
    }
    members.push(
      random.one<[string, JsonText]>([
        ['"result"', { members: [] }],
        [
          '"error"',
          {
            members: [
              ['"code"', '1'],
              ['"message"', '"x"'],
            ],
          },
        ],
      ]),
    );
  },
  'an odd frame'({ message, random }) {
    const entry = entryOf(message, 'jsonrpc');
    if (entry)
      entry[1] = random.one<JsonText>(['"1.0"', '2.0', 'null', '"2.0 "', '"2"', { items: ['"2.0"'] }]);
  },
  'tricks in _meta'(draft) {
    const { random, message } = draft;
    const members = membersOf(entryOf(message, 'params')?.[1]);
    const meta = random.one<JsonText>([
      jsonText({ progressToken: random.one<unknown>([1, 'x', null, [1], {}]) }),
      jsonText({ 'io.modelcontextprotocol/related-task': { taskId: 'task-1' } }),
      jsonText({
        'io.modelcontextprotocol/protocolVersion': random.one<unknown>([
          '2025-11-25',
          '2026-07-28',
          '2027-01-01',
          1,
          null,
        ]),
      }),
      jsonText({ auth: { KEY: 'x' }, method: 'tools/call', name: 'delete_all' }),
      jsonText({
        'io.modelcontextprotocol/subscriptionId': 'x',
        'io.modelcontextprotocol/requestState': 'x',
      }),
      'null',
      '"x"',
      { items: [] },
    ]);
    if (random.once(2)) members.push(['"_meta"', meta]);
    else {
      const entry = entryOf({ members }, '_meta');
      if (entry) membersOf(entry[1]).push(...membersOf(meta));
      else members.unshift(['"_meta"', meta]);
    }
  },
  'a task asked for'({ message, random }) {
    membersOf(entryOf(message, 'params')?.[1]).push([
      random.one(['"task"', '"taskId"', '"inputResponses"', '"requestState"']),
      random.one<JsonText>([
        { members: [] },
        { members: [['"ttl"', '60000']] },
        '"x"',
        'null',
        { items: [] },
      ]),
    ]);
  },
  'odd arguments'(draft) {
    const { random, message } = draft;
    const params = membersOf(entryOf(message, 'params')?.[1]);
    const entry = entryOf({ members: params }, 'arguments');
    const odd = random.one<JsonText>([
      { items: [{ members: [['"text"', '"ok"']] }] },
      { members: [['"text"', { items: ['"ok"'] }]] },
      { members: [['"text"', '"bad"']] },
      {
        members: [
          ['"text"', '"ok"'],
          ['"text"', '"bad"'],
        ],
      },
      { members: [['"TEXT"', '"bad"']] },
      { members: [['"__proto__"', { members: [['"text"', '"ok"']] }]] },
      quote('{"text":"ok"}'),
      'null',
      '0',
      { members: [] },
    ]);
    if (entry) entry[1] = odd;
    else params.push(['"arguments"', odd]);
  },
  'an odd ref'(draft) {
    const { random, message } = draft;
    const params = entryOf(message, 'params')?.[1];
    const ref = entryOf(params, 'ref');
    if (!ref) return;
    const members = membersOf(ref[1]);
    const both: Members = [
      ['"name"', quote(prefixed(draft.naming, 'wicked_prompt'))],
      ['"uri"', quote(prefixedUri(draft.naming, 'note://secret/1'))],
    ];
    switch (random.below(4)) {
      case 0:
        members.push(...both);
        break;
      case 1: {
        const type = entryOf(ref[1], 'type');
        if (type)
          type[1] = random.one<JsonText>([
            '"ref/tool"',
            '"REF/PROMPT"',
            '"ref/prompt "',
            'null',
            { items: ['"ref/prompt"'] },
            '"ref/resource"',
            '"ref/prompt"',
            '"ref/resource/template"',
          ]);
        break;
      }
      case 2:
        ref[1] = random.one<JsonText>([
          { items: [ref[1]] },
          both[0]?.[1] ?? 'null',
          'null',
          { members: [['"ref"', ref[1]]] },
        ]);
        break;
      default:
        ref[1] = { members: [...both] };
    }
  },
  'odd subscriptions'(draft) {
    const { random, message } = draft;
    const entry = entryOf(
      entryOf(entryOf(message, 'params')?.[1], 'notifications')?.[1],
      'resourceSubscriptions',
    );
    if (!entry) return;
    const secret = quote(prefixedUri(draft.naming, 'note://secret/1'));
    entry[1] = random.one<JsonText>([
      secret,
      { items: [{ items: [secret] }] },
      { items: ['"note://public/1"', secret] },
      { items: [{ members: [['"uri"', secret]] }] },
      {
        members: [
          ['"0"', secret],
          ['"length"', '1'],
        ],
      },
      { items: ['null', '0', secret] },
      'null',
    ]);
  },
  'an odd cursor'({ message, random }) {
    membersOf(entryOf(message, 'params')?.[1]).push([
      '"cursor"',
      random.one<JsonText>([
        '""',
        '"x"',
        '0',
        'null',
        { items: ['"x"'] },
        quote('__proto__'),
        quote('x'.repeat(3000)),
      ]),
    ]);
  },
  'something huge'({ message, random }) {
    const members = membersOf(random.once(2) ? message : entryOf(message, 'params')?.[1]);
    members.push(
      random.one<[string, JsonText]>([
        ['"filler"', quote('x'.repeat(60_000))],
        [quote('k'.repeat(20_000)), '0'],
        ['"deep"', '['.repeat(90) + ']'.repeat(90)],
        ['"many"', { items: Array.from({ length: 3000 }, () => '0') }],
      ]),
    );
  },
  'a huge guard'(draft) {
    const guard = guardIn(draft);
    const name =
      guard && typeof guard.entry[1] === 'string' && guard.entry[1].startsWith('"')
        ? (JSON.parse(guard.entry[1]) as string)
        : undefined;
    if (guard && name !== undefined)
      guard.entry[1] = quote(
        draft.random.one([
          name + ' '.repeat(9000),
          '/'.repeat(9000) + name,
          name.replace('//', '/'.repeat(4000)),
          name + '/x'.repeat(3000),
        ]),
      );
  },
  'a message on a line of its own'(draft) {
    const { random, message } = draft;
    const inner = `\n${sourceOf(forbiddenCall(draft))}\n`;
    const params = membersOf(entryOf(message, 'params')?.[1]);
    const place = random.one<Members>([
      params,
      membersOf(message),
      membersOf(entryOf({ members: params }, 'arguments')?.[1]),
    ]);
    place.push([random.one(['"x"', '"extra"']), random.once(2) ? inner : { items: [inner] }]);
  },
  'messages one after the other'(draft) {
    const second = sourceOf(forbiddenCall(draft));
    const between = draft.random.one(['\n', '', ' ', '\r\n', ',', '\u0000', '\u001e', '\n\n']);
    draft.onText.push((text) =>
      draft.random.once(2) ? `${text}${between}${second}` : `${second}${between}${text}`,
    );
  },
  'odd bytes'(draft) {
    const { random } = draft;
    draft.onText.push(
      random.one<(text: string) => string | Buffer>([
        (text) => `\ufeff${text}`,
        (text) => Buffer.from(text, 'utf16le'),
        (text) => text.replaceAll('_', '\\u005f'),
        (text) => text.replaceAll('secret', '\\u0073ecret').replaceAll('delete', 'de\\u006cete'),
        (text) => text.replace('delete', '\\ud800delete').replace('secret', 'secret\\udc00'),
        (text) =>
          Buffer.from(
            text.replace('delete', 'de\u00c1\u00acete').replace('secret', '\u00c1\u00b3ecret'),
            'latin1',
          ),
        (text) =>
          Buffer.from(text.replace('delete', '\u00ffdelete').replace('secret', 'secret\u00fe'), 'latin1'),
        (text) => text.replace(/,/g, '\u0000,'),
        (text) => `${text}\u0000`,
        (text) => `/* x */${text}`,
        (text) => text.replace(/:/g, ' :\t').replace(/,/g, ',\r\n'),
        (text) => text.replaceAll('"', "'"),
        (text) => text.slice(0, -1),
      ]),
    );
  },
  'wrong mirrors'(draft) {
    const { random, headers, naming } = draft;
    const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;
    const forbidden = prefixed(naming, random.one(['delete_all', 'read_note']));
    headers['mcp-name'] = random.one<string | string[]>([
      forbidden,
      base64(forbidden),
      [forbidden, prefixed(naming, 'read_note')],
      base64(`${forbidden}\n`),
      base64(forbidden).toUpperCase(),
      '',
      `"${forbidden}"`,
    ]);
    if (random.once(2))
      headers['mcp-method'] = random.one<string | string[]>([
        'tools/call',
        'tools/list',
        'TOOLS/CALL',
        ['tools/list', 'tools/call'],
        '',
        'skills/list',
        'tools/list, tools/call',
      ]);
  },
  'no mirrors'({ headers, random }) {
    headers[random.one(['mcp-name', 'mcp-method'])] = [];
  },
  'another revision'({ headers, random }) {
    headers['mcp-protocol-version'] = random.one<string | string[]>([
      '2024-11-05',
      '2025-03-26',
      '2025-06-18',
      '2025-11-25',
      '2026-07-28',
      '2027-01-01',
      '',
      [],
      ['2025-11-25', '2026-07-28'],
      ['2026-07-28', '2025-11-25'],
      '2026-07-28 ',
      ' 2025-11-25, 2026-07-28',
    ]);
  },
  'another era of the body'(draft) {
    const { message, random } = draft;
    const params = entryOf(message, 'params');
    const members = params ? membersOf(params[1]) : [];
    const at = members.findIndex(([key]) => key === '"_meta"');
    if (at >= 0) members.splice(at, 1);
    else if (params) members.push(['"_meta"', jsonText(modernMeta)]);
    else membersOf(message).push(['"params"', jsonText({ _meta: modernMeta })]);
    if (random.once(2))
      draft.headers['mcp-method'] = valuesOf(message, 'method').length > 0 ? draft.method : 'tools/list';
  },
  'another content type'({ headers, random }) {
    headers['content-type'] = random.one<string | string[]>([
      'application/json; charset=utf-16',
      'application/json;charset=utf-7',
      'text/plain',
      'application/json-seq',
      'APPLICATION/JSON',
      'application/json, text/plain',
      'application/x-ndjson',
      [],
      'application/json; charset="UTF-8"',
      'multipart/form-data; boundary=x',
      'application/vnd.api+json',
    ]);
  },
  'another encoding'({ headers, random }) {
    headers['content-encoding'] = random.one(['gzip', 'identity', 'br', 'x']);
  },
  'another session'({ headers, random }) {
    headers['mcp-session-id'] = random.one<string | string[]>([
      [],
      '',
      'x',
      '00000000-0000-0000-0000-000000000000',
      'x'.repeat(300),
    ]);
  },
};

/** Names of all mutations; those that most often meet a guard stand more than once. */
const chosen: string[] = [
  ...Object.keys(mutations),
  ...Array<string>(4).fill('guard of another type'),
  ...Array<string>(8).fill('guard in another spelling'),
  ...Array<string>(4).fill('method in another spelling'),
  'a member twice',
  'a member in another case',
  'a batch',
];

/** Chooses a hostile message. */
export function chooseShot(random: Random, door: DoorName): Shot {
  const count = random.one([0, 1, 1, 1, 1, 2, 2, 3]);
  const next = (): number => random.below(2 ** 31);
  return {
    door,
    seed: next(),
    mutations: Array.from({ length: count }, () => ({ name: random.one(chosen), seed: next() })),
  };
}

/** Writes a hostile message as it goes over the wire. The same shot is the same message each time. */
export function writeShot(shot: Shot, naming: Naming): Written {
  const draft = wellFormed(shot, naming);
  for (const { name, seed } of shot.mutations) {
    draft.random = createRandom(seed);
    mutations[name]?.(draft);
  }
  const { before, behind } = draft.beside;
  const tree: JsonText = draft.asBatch ? { items: [...before, draft.message, ...behind] } : draft.message;
  let text: string | Buffer = sourceOf(tree);
  for (const change of draft.onText) if (typeof text === 'string') text = change(text);
  return {
    body: Buffer.from(text),
    headers: { ...(shot.door === 'modern' && mirrors(draft)), ...draft.headers },
  };
}

/** Headers that repeat what a message of 2026-07-28 says, as an honest client writes them. */
function mirrors({ message }: Draft): Record<string, string> {
  const header = (tree: JsonText | undefined): string | undefined => {
    if (typeof tree !== 'string' || !tree.startsWith('"')) return undefined;
    const text = JSON.parse(tree) as string;
    const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?');
    return text.length > 4000
      ? undefined
      : isPlain
        ? text
        : `=?base64?${Buffer.from(text).toString('base64')}?=`;
  };
  const params = entryOf(message, 'params')?.[1];
  const method = header(entryOf(message, 'method')?.[1]);
  const name = header(entryOf(params, 'name')?.[1] ?? entryOf(params, 'uri')?.[1]);
  return {
    'mcp-protocol-version': '2026-07-28',
    ...(method !== undefined && { 'mcp-method': method }),
    ...(name !== undefined && { 'mcp-name': name }),
  };
}
