import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { fileURLToPath } from 'node:url';
import { type StepName, stepNames } from './program.ts';
import { programs } from './programs.ts';
import type { Exchange } from './recorder.ts';
import type { Sent, StepResult } from './steps.ts';

/** What a run found out about a program. */
export interface ProgramResult {
  name: string;
  title: string;
  version: string;
  /** The day of the run, UTC. */
  date: string;
  steps: StepResult[];
  /** What npm said, if it could not be installed. */
  notInstalled?: string;
}

/** A request as it is kept: everything that could be a secret is replaced by its name. */
export interface KeptRequest {
  step: StepName;
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: unknown;
  /** The status of the response. */
  status: number;
}

/** A file of test/clients/recorded. */
export interface Recorded extends ProgramResult {
  requests: KeptRequest[];
}

const folder = new URL('recorded/', import.meta.url);
const page = fileURLToPath(new URL('../../docs/clients.md', import.meta.url));
const checksPage = fileURLToPath(new URL('../../docs/doctor-checks.md', import.meta.url));
const registrations = fileURLToPath(
  new URL('../../src/oauth/client-profiles/recorded-registrations.ts', import.meta.url),
);
const [tableBegin, tableEnd] = ['<!-- programs: begin -->', '<!-- programs: end -->'];

/** Headers whose value is kept; of the others only the name is. */
const keptHeaders = new Set([
  'accept',
  'accept-language',
  'content-type',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'origin',
  'sec-fetch-mode',
  'user-agent',
]);
/** Headers of the connection, which say nothing about the program. */
const leftOut = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding']);
/** Parameters of OAuth whose value is kept. */
const keptParameters = new Set([
  'application_type',
  'client_name',
  'client_uri',
  'code_challenge_method',
  'grant_type',
  'grant_types',
  'logo_uri',
  'prompt',
  'redirect_uri',
  'redirect_uris',
  'resource',
  'response_type',
  'response_types',
  'scope',
  'software_id',
  'software_version',
  'token_endpoint_auth_method',
  'token_type_hint',
]);

/** Ports change with each run. */
function withoutPorts(text: string): string {
  return text.replace(/\b(localhost|127\.0\.0\.1|\[::1\])(:|%3A)\d+/gi, '$1$2<port>');
}

function keptParameter(name: string, value: unknown): unknown {
  if (keptParameters.has(name)) return JSON.parse(withoutPorts(JSON.stringify(value))) as unknown;
  // A client id that is a URL is that of a document, which is public.
  if (name === 'client_id' && /^https:/.test(String(value))) return value;
  return `<${name}>`;
}

function keptForm(parameters: URLSearchParams): Record<string, unknown> {
  return Object.fromEntries([...parameters].map(([name, value]) => [name, keptParameter(name, value)]));
}

function keptPath(path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://localhost');
  const query = Object.entries(keptForm(searchParams)).map(([name, value]) => `${name}=${String(value)}`);
  return query.length === 0 ? pathname : `${pathname}?${query.join('&')}`;
}

function keptHeadersOf(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !leftOut.has(name))
      .map(([name, value]) => [name, keptHeaders.has(name) ? withoutPorts(String(value)) : `<${name}>`]),
  );
}

/** Of a message: its method, the members of its parameters, and what an `initialize` says of the client. */
function keptMessage(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(keptMessage);
  const { method, params } = message as { method?: string; params?: Record<string, unknown> };
  if (method === undefined) return { response: '<response>' };
  if (params === undefined) return { method };
  if (method === 'initialize') return { method, params };
  return { method, params: Object.fromEntries(Object.keys(params).map((name) => [name, `<${name}>`])) };
}

function keptBody({ body, headers, path }: Exchange): unknown {
  if (body === '') return undefined;
  if (headers['content-type']?.includes('form')) return keptForm(new URLSearchParams(body));
  try {
    const parsed = JSON.parse(body) as Record<string, unknown>;
    if (!/\/(?:register|reg)$/.test(path)) return keptMessage(parsed);
    return Object.fromEntries(
      Object.entries(parsed).map(([name, value]) => [name, keptParameter(name, value)]),
    );
  } catch {
    return '<body>';
  }
}

/** Returns the first sentence of a note, without what belongs to one run: ports, folders, random values. */
function keptNote(note: string): string {
  const [first = ''] = note.split(/ \| refused:| {4}at |\n/);
  return withoutPorts(first)
    .replace(/(?:file:\/\/)?\/(?:tmp|home|root|var|work)\/\S+/g, '<folder>')
    .replace(/[A-Za-z0-9_-]{24,}/g, '<random>')
    .slice(0, 300);
}

/** The pages of the person, which no program asks for. */
const isOfPerson = (path: string): boolean =>
  /^(?:\/tools)?\/(?:interaction|login|consent|authorize\/)/.test(path);

/** Returns the requests of a program, each kind once, without what could be a secret. */
export function keepRequests(sent: readonly Sent[]): KeptRequest[] {
  const seen = new Set<string>();
  return sent.flatMap(({ step, exchange }) => {
    if (isOfPerson(exchange.path)) return [];
    const { method, status } = exchange;
    const body = keptBody(exchange);
    const request = {
      method,
      path: keptPath(exchange.path),
      headers: keptHeadersOf(exchange.headers),
      ...(body === undefined ? undefined : { body }),
      status,
    };
    const key = JSON.stringify(request);
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ step, ...request }];
  });
}

/**
 * Returns a program's results and requests as they are kept.
 * @param before what was kept of it: steps that were not taken this time stay, with their day, if it is the same version
 */
export function mergeRecorded(
  before: Partial<Recorded>,
  result: ProgramResult,
  sent: readonly Sent[],
): Recorded {
  const steps = result.steps.map(({ note, ...step }) => ({
    ...step,
    ...(note === undefined ? undefined : { note: keptNote(note) }),
  }));
  const stays = ({ step }: { step: StepName }): boolean =>
    before.version === result.version && !steps.some((one) => one.step === step);
  const former = (before.steps ?? []).filter(stays);
  return {
    ...result,
    date: former.length > 0 && before.date !== undefined ? before.date : result.date,
    steps: [...former, ...steps],
    requests: [...(before.requests ?? []).filter(stays), ...keepRequests(sent)],
  };
}

/** Keeps a program's results and requests in test/clients/recorded. */
export async function recordProgram(result: ProgramResult, sent: readonly Sent[]): Promise<void> {
  const file = new URL(`${result.name}.json`, folder);
  const before = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as Partial<Recorded>;
  await mkdir(folder, { recursive: true });
  await writeFile(file, `${JSON.stringify(mergeRecorded(before, result, sent), undefined, 2)}\n`);
}

/** Reads what was recorded, in the order of the programs. */
export async function readRecorded(): Promise<Recorded[]> {
  const read = programs.map(async ({ name }) => {
    const text = await readFile(new URL(`${name}.json`, folder), 'utf8').catch(() => undefined);
    return text === undefined ? [] : [JSON.parse(text) as Recorded];
  });
  return (await Promise.all(read)).flat();
}

const headings: Readonly<Record<StepName, string>> = {
  one: 'one server',
  second: 'second route',
  prefix: 'below a path',
  sse: '`/sse`',
  expired: 'expired token',
  restart: 'restart',
  revoked: 'revoked grant',
};

/** Formats the results as the table of docs/clients.md. */
export function formatTable(recorded: readonly ProgramResult[]): string {
  const notes: string[] = [];
  const noteOf = (text: string): string => {
    if (!notes.includes(text)) notes.push(text);
    return `(${notes.indexOf(text) + 1})`;
  };
  const rows = recorded.map(({ title, version, date, steps }) => {
    const cells = stepNames.map((name) => {
      const step = steps.find((one) => one.step === name);
      if (!step) return 'not tried';
      const word = { passed: 'yes', failed: '**no**', cannot: '–' }[step.outcome];
      return step.note === undefined ? word : `${word} ${noteOf(step.note)}`;
    });
    return `| ${[title, version, date, ...cells].join(' | ')} |`;
  });
  const head = ['program', 'version', 'tried', ...stepNames.map((name) => headings[name])];
  return [
    `| ${head.join(' | ')} |`,
    `|${'---|'.repeat(head.length)}`,
    ...rows,
    ...(notes.length === 0 ? [] : ['', ...notes.map((note, at) => `${at + 1}. ${note}`)]),
  ].join('\n');
}

/** Returns a page with another table between its markers. */
export function replaceTable(text: string, table: string): string {
  const [before, rest = ''] = text.split(tableBegin);
  const after = rest.split(tableEnd)[1];
  if (after === undefined) throw new Error(`docs/clients.md has no ${tableBegin} and ${tableEnd}`);
  return `${before}${tableBegin}\n${table}\n${tableEnd}${after}`;
}

/** Writes the table of everything that was recorded into docs/clients.md. */
async function writeTable(): Promise<void> {
  const text = await readFile(page, 'utf8');
  await writeFile(page, replaceTable(text, formatTable(await readRecorded())));
}

/** Programs whose client profile takes its registration from what was recorded. */
const profiledPrograms = ['claude-code', 'codex', 'copilot-cli', 'gemini-cli', 'mcp-remote', 'mcporter'];
/** In place of the port, which changes with each run. */
const registeredPort = '53682';
/** Members of a registration that the person or the server decides. */
const decidedElsewhere = new Set(['client_name', 'scope']);

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatValue).join(', ')}]`;
  return `'${String(value).replaceAll('<port>', registeredPort).replaceAll("'", "\\'")}'`;
}

function formatRegistration({ name, version, date, requests }: Recorded): string {
  const bodyOf = ({ body }: KeptRequest) => body as Record<string, unknown> & { redirect_uris: string[] };
  const request = requests.find(
    (one) => /\/register$/.test(one.path) && one.status === 201 && bodyOf(one).redirect_uris.length > 0,
  );
  if (request === undefined) throw new Error(`${name} registered nothing that was recorded`);
  const body = bodyOf(request);
  const members = Object.entries(body)
    .filter(([member]) => !decidedElsewhere.has(member))
    .map(([member, value]) => `      ${member}: ${formatValue(value)},`);
  return [
    `  ${/-/.test(name) ? `'${name}'` : name}: {`,
    `    version: '${date}',`,
    `    observed: '${version}',`,
    '    registrationBody: {',
    ...members,
    '    },',
    `    redirectUri: ${formatValue(body.redirect_uris[0])},`,
    '  },',
  ].join('\n');
}

/** Formats what programs registered as the source file from which their client profiles take it. */
export function formatRegistrations(recorded: readonly Recorded[]): string {
  const entries = recorded.filter(({ name }) => profiledPrograms.includes(name)).map(formatRegistration);
  return `import type { ClientProfile } from './client-profile.ts';

/**
 * The registrations of published programs, with the day of the recording. \`scripts/test --clients --record\` writes this file
 * from test/clients/recorded.
 */
export const recordedRegistrations = {
${entries.join('\n')}
} as const satisfies Record<
  string,
  Pick<ClientProfile, 'version' | 'observed' | 'registrationBody' | 'redirectUri'>
>;
`;
}

/** Writes the checks of the doctor into docs/doctor-checks.md: they name the version and the day of each profile. */
async function writeChecks(): Promise<void> {
  // Loads the client profiles after their source was written.
  const { formatReference } = await import('../doctor/reference.ts');
  const text = await readFile(checksPage, 'utf8');
  await writeFile(
    checksPage,
    text.replace(/(?<=<!-- checks -->\n\n)[\s\S]*(?=\n<!-- end of checks -->)/, () => formatReference()),
  );
}

/** Writes everything that is generated from what was recorded. */
export async function writeGenerated(): Promise<void> {
  await writeTable();
  await writeFile(registrations, formatRegistrations(await readRecorded()));
  await writeChecks();
}
