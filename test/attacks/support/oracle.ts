import { type JsonText, readJsonText, stringOf, stringsIn, valuesOf } from './json-text.ts';

/** What a recording backend received, or what an own server was asked. */
export interface Received {
  target: string;
  era: 'legacy' | 'modern';
  /** The body of a POST, or a line of standard input. */
  text: string;
  headers?: NodeJS.Dict<string | string[]>;
}

/** Rules of a target that decide what counts as forbidden there. */
export interface Strictness {
  /**
   * `closed`: only listed names are allowed, so any spelling that some server folds to a forbidden name is forbidden.
   * `open`: names of tools and prompts are forbidden as they are written, and URIs in every spelling of the same URI.
   */
  names: 'closed' | 'open';
  /** Whether arguments are checked by the schema of `read_note`. */
  checksArguments: boolean;
  /** Whether only tools with `readOnlyHint` are allowed. */
  readOnly: boolean;
}

const requests = {
  legacy: [
    'initialize',
    'ping',
    'tools/list',
    'tools/call',
    'prompts/list',
    'prompts/get',
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'resources/subscribe',
    'resources/unsubscribe',
    'completion/complete',
    'logging/setLevel',
  ],
  modern: [
    'server/discover',
    'tools/list',
    'tools/call',
    'prompts/list',
    'prompts/get',
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'completion/complete',
    'subscriptions/listen',
  ],
};
const notifications = {
  legacy: [
    'notifications/initialized',
    'notifications/cancelled',
    'notifications/progress',
    'notifications/roots/list_changed',
  ],
  modern: ['notifications/cancelled', 'notifications/progress', 'notifications/roots/list_changed'],
};
const forbidden = { tool: ['delete_all'], prompt: ['wicked_prompt'] };
const writingTools = ['write_note'];

/**
 * Judges a message that got through the gate. It reads the text as the most careless server might: repeated members in any
 * order, names out of arrays and objects, positional parameters, and spellings folded together.
 * @returns the kinds of breach; none if the message was allowed
 */
export function judge(received: Received, strictness: Strictness): string[] {
  let tree: JsonText;
  try {
    tree = readJsonText(received.text);
  } catch {
    return ['text that is not JSON'];
  }
  const list = typeof tree !== 'string' && 'items' in tree ? tree.items : [tree];
  return [
    ...new Set([
      ...list.flatMap((message) => judgeMessage(message, received, strictness)),
      ...judgeHeaders(list, received),
    ]),
  ];
}

function judgeMessage(message: JsonText, { era }: Received, strictness: Strictness): string[] {
  if (typeof message === 'string' || 'items' in message) return ['a message that is no object'];
  const keys = message.members.map(([key]) => JSON.parse(key) as string);
  const odd = keys.find((key) => !['jsonrpc', 'id', 'method', 'params', 'result', 'error'].includes(key));
  const found: string[] = [];
  if (odd !== undefined && ['method', 'params', 'id'].includes(foldKey(odd)))
    found.push(`${foldKey(odd)} written in another case`);
  const methods = valuesOf(message, 'method');
  if (methods.length === 0) {
    // The backends here ask nothing, so there is nothing to answer.
    return [
      ...found,
      keys.includes('result') || keys.includes('error') ? 'an unasked response' : 'no method',
    ];
  }
  if (methods.length > 1) found.push('method twice');
  if (valuesOf(message, 'params').length > 1) found.push('params twice');
  const isRequest = keys.includes('id');
  for (const written of methods) {
    const method = stringOf(written);
    if (method === undefined) found.push('a method that is no string');
    else {
      const unknown = judgeMethod(method, isRequest, era);
      if (unknown !== undefined) {
        found.push(unknown);
        continue;
      }
      const params = valuesOf(message, 'params');
      for (const one of params) found.push(...judgeParams(method, one, strictness));
      if (params.length === 0 && guardOf(method).length > 0) found.push(`${method} without params`);
    }
  }
  return found;
}

/** Methods of other directions, eras and extensions, which are told apart in a report. */
const others = [
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
  'notifications/tasks/status',
  'notifications/message',
  'notifications/tools/list_changed',
  'notifications/elicitation/complete',
];

/** Returns what is wrong with a method: it has to be known, letter by letter, to the era of the server that received it. */
function judgeMethod(method: string, isRequest: boolean, era: Received['era']): string | undefined {
  if ((isRequest ? requests : notifications)[era].includes(method)) return undefined;
  const what = isRequest ? 'request' : 'notification';
  if ((isRequest ? notifications : requests)[era].includes(method))
    return `${what} of a method that is none: ${method}`;
  if (others.includes(method)) return `${what} not served: ${method}`;
  const all = [...Object.values(requests), ...Object.values(notifications), others].flat();
  if (all.includes(method)) return `${what} of another era: ${method}`;
  if (all.some((known) => foldName(method).includes(foldName(known))))
    return `${what} with a known method in another spelling`;
  return `${what} that nothing knows`;
}

/** Members of params that name what a method uses. */
function guardOf(method: string): { member: string; kind: 'tool' | 'prompt' | 'uri' | 'ref' | 'filter' }[] {
  switch (method) {
    case 'tools/call':
      return [{ member: 'name', kind: 'tool' }];
    case 'prompts/get':
      return [{ member: 'name', kind: 'prompt' }];
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return [{ member: 'uri', kind: 'uri' }];
    case 'completion/complete':
      return [{ member: 'ref', kind: 'ref' }];
    case 'subscriptions/listen':
      return [{ member: 'notifications', kind: 'filter' }];
    default:
      return [];
  }
}

function judgeParams(method: string, params: JsonText, strictness: Strictness): string[] {
  const guards = guardOf(method);
  if (guards.length === 0) return [];
  if (typeof params === 'string' || 'items' in params) return [`${method} with params that are no object`];
  const found: string[] = [];
  for (const { member, kind } of guards) {
    for (const [key] of params.members) {
      const name = JSON.parse(key) as string;
      if (name !== member && foldKey(name) === member)
        found.push(`${method}: ${member} written in another case`);
    }
    const values = valuesOf(params, member);
    if (values.length > 1) found.push(`${method}: ${member} twice`);
    if (values.length === 0) found.push(`${method} without ${member}`);
    for (const value of values) found.push(...judgeGuard(method, member, kind, value, strictness));
    if (values.length === 0)
      for (const hidden of valuesOf(params, '__proto__'))
        for (const value of valuesOf(hidden, member))
          found.push(...judgeGuard(method, `__proto__.${member}`, kind, value, strictness));
  }
  if (method === 'tools/call') found.push(...judgeArguments(params, strictness));
  return found;
}

function judgeGuard(
  method: string,
  member: string,
  kind: 'tool' | 'prompt' | 'uri' | 'ref' | 'filter',
  value: JsonText,
  strictness: Strictness,
): string[] {
  if (kind === 'ref') {
    if (typeof value === 'string' || 'items' in value) return [`${method}: ref that is no object`];
    const types = valuesOf(value, 'type').map(stringOf);
    const found: string[] =
      types.length === 1 && ['ref/prompt', 'ref/resource'].includes(types[0] ?? '')
        ? []
        : [`${method}: ref of no known type`];
    // A careless server looks at the member that is there, whatever the type says.
    const names = valuesOf(value, 'name');
    const uris = valuesOf(value, 'uri');
    if (names.length > 1 || uris.length > 1) found.push(`${method}: ref.name or ref.uri twice`);
    if (types[0] === 'ref/prompt' && names.length === 0) found.push(`${method}: ref without name`);
    if (types[0] === 'ref/resource' && uris.length === 0) found.push(`${method}: ref without uri`);
    for (const name of names) found.push(...judgeGuard(method, 'ref.name', 'prompt', name, strictness));
    for (const uri of uris) found.push(...judgeGuard(method, 'ref.uri', 'uri', uri, strictness));
    return found;
  }
  if (kind === 'filter') {
    if (typeof value === 'string' || 'items' in value) return [`${method}: notifications that are no object`];
    return valuesOf(value, 'resourceSubscriptions').flatMap((uris) =>
      typeof uris === 'string' || !('items' in uris)
        ? [`${method}: resourceSubscriptions that are no list`]
        : uris.items.flatMap((uri) => judgeGuard(method, 'resourceSubscriptions', 'uri', uri, strictness)),
    );
  }
  const found: string[] = [];
  if (stringOf(value) === undefined) found.push(`${method}: ${member} that is no string`);
  const names = stringsIn(value);
  const isForbidden = (name: string): boolean =>
    kind === 'uri'
      ? // To end a subscription gives nothing away.
        method !== 'resources/unsubscribe' && isForbiddenUri(name, strictness)
      : isForbiddenName(name, kind, strictness);
  if (names.some(isForbidden))
    found.push(
      `${method}: forbidden ${kind}${names.some((name) => asWritten.test(name)) ? '' : ' in another spelling'}`,
    );
  if (
    kind === 'tool' &&
    strictness.readOnly &&
    names.some((name) => writingTools.some((tool) => foldName(name).includes(foldName(tool))))
  )
    found.push(`${method}: a tool that writes`);
  return found;
}

const asWritten = /^(\w+[_+])?(delete_all|wicked_prompt|note:\/\/secret(\/1)?|file:\/\/\/srv\/locked\/a)$/;

function isForbiddenName(name: string, kind: 'tool' | 'prompt', { names }: Strictness): boolean {
  return forbidden[kind].some((marker) =>
    names === 'closed' ? foldName(name).includes(foldName(marker)) : name === marker,
  );
}

function judgeArguments(params: JsonText, { checksArguments }: Strictness): string[] {
  if (
    !checksArguments ||
    valuesOf(params, 'name')
      .map(stringOf)
      .every((name) => name !== 'read_note')
  )
    return [];
  const given = valuesOf(params, 'arguments');
  if (given.length > 1) return ['tools/call: arguments twice'];
  const texts = given.flatMap((one) => valuesOf(one, 'text'));
  const fits = texts.length === 1 && stringOf(texts[0])?.startsWith('ok');
  return fits ? [] : ['tools/call: arguments that do not fit the schema'];
}

function judgeHeaders(list: readonly JsonText[], { era, headers }: Received): string[] {
  if (era !== 'modern' || !headers || list.length !== 1) return [];
  const [message] = list;
  const said = { method: headers['mcp-method'], name: headers['mcp-name'] };
  const found: string[] = [];
  const method = stringOf(valuesOf(message, 'method')[0]);
  if (method === undefined || guardOf(method).length === 0) return [];
  if (said.method !== undefined && said.method !== method) found.push('Mcp-Method of another method');
  if (said.name !== undefined) {
    const params = valuesOf(message, 'params')[0];
    const name = stringOf(valuesOf(params, method.startsWith('resources/') ? 'uri' : 'name')[0]);
    if (decodeHeader(String(said.name)) !== name) found.push('Mcp-Name of another name');
  }
  return found;
}

function decodeHeader(value: string): string {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8');
}

const twins = new Map(
  Object.entries({
    а: 'a',
    е: 'e',
    о: 'o',
    р: 'p',
    с: 'c',
    ѕ: 's',
    і: 'i',
    ı: 'i',
    ӏ: 'l',
    ԁ: 'd',
    ո: 'n',
    '0': 'o',
    '1': 'l',
  }),
);

/** Folds a name as no server would in full, and as some server might in part. */
export function foldName(name: string): string {
  let folded = name;
  for (let round = 0; round < 4; round++) {
    const before = folded;
    folded = folded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (folded === before) break;
  }
  return [...folded.normalize('NFKD').toLowerCase()]
    .map((letter) => twins.get(letter) ?? letter)
    .join('')
    .replace(/[^a-z]/g, '');
}

/** Folds a member name as Go's encoding/json does, which takes members in any case. */
function foldKey(key: string): string {
  return key.replaceAll('\u017f', 's').replaceAll('\u212a', 'k').toLowerCase();
}

const forbiddenPlaces = [['secret'], ['srv', 'locked']];

/** Decides by the places that a URI may lead to, whoever reads it. Aggregated URIs have the key of their backend before them. */
export function isForbiddenUri(uri: string, { names }: Pick<Strictness, 'names'>): boolean {
  const spellings = new Set<string>();
  let one = uri;
  for (let round = 0; round < 5; round++) {
    spellings.add(one);
    one = decodePercent(one);
  }
  return [...spellings].some((spelling) => leadsToForbidden(spelling, names));
}

function decodePercent(text: string): string {
  const bytes = text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  );
  return bytes;
}

function leadsToForbidden(spelling: string, names: Strictness['names']): boolean {
  const plain = spelling
    .normalize('NFKC')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what URL parsers drop
    .replace(/[\u0000-\u0020\u007f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]/g, '')
    .replaceAll('\\', '/');
  const found = /^(?:[a-z0-9-]+\+)?([a-z]+):(.*)$/is.exec(plain);
  if (!found) return false;
  const scheme = found[1]?.toLowerCase() ?? '';
  const [path = ''] = (found[2] ?? '').split(/[?#]/);
  const parts: string[] = [];
  for (const raw of path.split('/')) {
    const part = (raw.split(';')[0] ?? '').replace(/^.*@/, '').replace(/:\d*$/, '');
    if (part === '..') parts.pop();
    else if (part.replace(/\.+$/, '') !== '') parts.push(part.replace(/\.+$/, ''));
  }
  const fold = (part: string, at: number): string =>
    names === 'closed' || (scheme === 'note' && at === 0) ? part.toLowerCase() : part;
  if (!['note', 'file'].includes(scheme)) return false;
  const places =
    scheme === 'file' && ['localhost', '127.0.0.1'].includes(parts[0]?.toLowerCase() ?? '')
      ? parts.slice(1)
      : parts;
  const place = forbiddenPlaces[scheme === 'note' ? 0 : 1] as string[];
  return place.every((part, at) => fold(places[at] ?? '', at) === part);
}
