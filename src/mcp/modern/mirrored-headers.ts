import type { IncomingHttpHeaders } from 'node:http';
import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { type ExactNumber, isExactNumber } from '../../collections/exact-json.ts';
import { principalKey } from '../../oauth/auth-info.ts';
import { headerNamePattern } from '../../oauth/headers.ts';
import { headerOf } from '../http/dispatch.ts';
import { type Backend, type Caller, isRecord, type McpLike, type RequestMessage } from '../protocol.ts';
import { readToolList } from './internal-call.ts';

/** A parameter of a tool that is mirrored in a header. */
export interface MirroredParameter {
  /** Names of properties from the tool's arguments to the value. */
  path: readonly string[];
  /** The header is `Mcp-Param-` and this. */
  headerName: string;
  /** JSON Schema type of the value. */
  type: string;
}

/** A header that differs from the body. */
export interface HeaderMismatch {
  header: string;
  /** Description of the fault, for the client's developer. */
  problem: string;
}

/** Method -> the parameter that `Mcp-Name` repeats. The tasks are of the extension io.modelcontextprotocol/tasks. */
export const namedBy: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/**
 * Checks that the required headers of 2026-07-28 are present and equal to the body.
 * @param headers headers of the request, names in lower case, equal ones joined with `, ` (which matches nothing)
 * @see MCP 2026-07-28 transports "Standard Headers" (B5-03, B5-04, T-132)
 */
export function checkMirroredHeaders(
  headers: IncomingHttpHeaders,
  { method, params }: RequestMessage,
): HeaderMismatch | undefined {
  const meta = params?._meta;
  const version = isRecord(meta) ? meta[PROTOCOL_VERSION_META_KEY] : undefined;
  const nameOf = namedBy.get(method);
  const name = nameOf === undefined ? undefined : params?.[nameOf];
  return (
    checkHeader('MCP-Protocol-Version', headerOf(headers, 'mcp-protocol-version'), version) ??
    checkHeader('Mcp-Method', headerOf(headers, 'mcp-method'), method) ??
    (nameOf === undefined ? undefined : checkEncodedHeader('Mcp-Name', headerOf(headers, 'mcp-name'), name))
  );
}

/**
 * Checks that the parameters a tool declares with `x-mcp-header` are repeated in their headers: as they are, integers
 * by their value, and no header if the value is null or absent.
 * @param given arguments of the call
 * @see MCP 2026-07-28 transports "Custom Headers from Tool Parameters" (B5-08, B5-10, T-132)
 */
export function checkMirroredParameters(
  headers: IncomingHttpHeaders,
  parameters: readonly MirroredParameter[],
  given: unknown,
): HeaderMismatch | undefined {
  for (const { path, headerName, type } of parameters) {
    const header = `Mcp-Param-${headerName}`;
    const sent = headerOf(headers, header.toLowerCase());
    const value = valueAt(given, path);
    const mismatch =
      (type === 'integer' || type === 'number') && (typeof value === 'number' || isExactNumber(value))
        ? checkNumberHeader(header, sent, value)
        : checkEncodedHeader(header, sent, value);
    if (mismatch) return mismatch;
  }
  return undefined;
}

function checkHeader(
  header: string,
  sent: string | string[] | undefined,
  said: unknown,
): HeaderMismatch | undefined {
  if (sent === undefined) return { header, problem: 'it is missing' };
  return String(sent).trim() === said ? undefined : { header, problem: 'the body says something else' };
}

function checkEncodedHeader(
  header: string,
  sent: string | string[] | undefined,
  value: unknown,
): HeaderMismatch | undefined {
  const said = textOf(value);
  if (sent === undefined)
    return said === undefined ? undefined : { header, problem: 'it is missing, but the body has a value' };
  if (said === undefined) return { header, problem: 'it is there, but the body has no value' };
  const decoded = decodeHeaderValue(String(sent));
  if (decoded === undefined) return { header, problem: 'its value is not well encoded' };
  return decoded === said ? undefined : { header, problem: 'the body says something else' };
}

const decimal = /^-?\d+(\.\d+)?$/;

function checkNumberHeader(
  header: string,
  sent: string | string[] | undefined,
  value: number | ExactNumber,
): HeaderMismatch | undefined {
  if (sent === undefined) return { header, problem: 'it is missing, but the body has a value' };
  const decoded = decodeHeaderValue(String(sent));
  if (decoded === undefined || !decimal.test(decoded))
    return { header, problem: 'it is not a decimal number' };
  return isSameNumber(decoded, value) ? undefined : { header, problem: 'the body says something else' };
}

/** Beyond 2^53 different numbers are the same to JavaScript, so their digits are compared. */
function isSameNumber(decoded: string, value: number | ExactNumber): boolean {
  const said = Number(JSON.stringify(value));
  return (
    decoded === JSON.stringify(value) ||
    (Number(decoded) === said && Math.abs(said) <= Number.MAX_SAFE_INTEGER)
  );
}

const sentinel = /^=\?base64\?(.*)\?=$/;
const canonicalBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const visible = /^[\t\x20-\x7e]*$/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes the value of `Mcp-Name` or `Mcp-Param-…`: as it is, or UTF-8 in `=?base64?…?=`.
 * @returns undefined if it is neither
 * @see MCP 2026-07-28 transports "Value Encoding"
 */
function decodeHeaderValue(sent: string): string | undefined {
  const value = sent.trim();
  if (!visible.test(value)) return undefined;
  const encoded = sentinel.exec(value)?.[1];
  if (encoded === undefined) return value;
  if (!canonicalBase64.test(encoded)) return undefined;
  try {
    return utf8.decode(Buffer.from(encoded, 'base64'));
  } catch {
    return undefined;
  }
}

/** Returns the header form of a value in the body; undefined if the value has none. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (isExactNumber(value)) return JSON.stringify(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function valueAt(given: unknown, path: readonly string[]): unknown {
  let at = given;
  for (const name of path) at = isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  return at;
}

/** Checks the parameters of a call that its headers repeat, against the schema of the tool. */
export type ParameterCheck = (
  backend: Backend,
  request: RequestMessage,
  caller: Caller,
) => Promise<HeaderMismatch | undefined>;

/**
 * Creates the check. A schema is read once.
 * @see MCP 2026-07-28 transports "Custom Headers from Tool Parameters" (B5-08, B5-10, T-132)
 */
export function createParameterCheck(): ParameterCheck {
  const known = new WeakMap<object, ReturnType<typeof mirroredParameters>>();
  const parametersOf = (schema: unknown): ReturnType<typeof mirroredParameters> => {
    if (typeof schema !== 'object' || schema === null) return [];
    const parameters = known.get(schema) ?? mirroredParameters(schema);
    known.set(schema, parameters);
    return parameters;
  };
  return async (backend, { method, params }, caller) => {
    if (method !== 'tools/call' || typeof params?.name !== 'string') return undefined;
    const schema = await backend.inputSchemaOf?.(params.name, caller);
    return checkMirroredParameters(caller.headers, parametersOf(schema), params.arguments);
  };
}

const mirroredTypes = new Set(['string', 'integer', 'number', 'boolean']);

/**
 * Reads which parameters of a tool are mirrored in headers. Only declarations under `properties` count. If one declaration
 * is not valid, none counts: clients drop such a tool.
 * @param schema the tool's `inputSchema`
 * @see MCP 2026-07-28 transports "Custom Headers from Tool Parameters" (B5-08, B5-09)
 */
export function mirroredParameters(schema: unknown): readonly MirroredParameter[] {
  const found = [...declarationsIn(schema, [])];
  const names = new Set(found.map(({ headerName }) => headerName.toLowerCase()));
  const isRight = found.every(
    ({ headerName, type }) => headerNamePattern.test(headerName) && mirroredTypes.has(type),
  );
  return isRight && names.size === found.length ? found : [];
}

function* declarationsIn(schema: unknown, path: readonly string[]): Iterable<MirroredParameter> {
  if (typeof schema !== 'object' || schema === null) return;
  const { properties, type, 'x-mcp-header': name } = schema as Record<string, unknown>;
  if (name !== undefined && path.length > 0)
    yield {
      path,
      headerName: typeof name === 'string' ? name : '',
      type: typeof type === 'string' ? type : '',
    };
  if (typeof properties !== 'object' || properties === null) return;
  for (const [key, member] of Object.entries(properties)) yield* declarationsIn(member, [...path, key]);
}

/** Finds the input schemas of a server's tools. */
export interface SchemaLookup {
  /** Returns the input schema of a tool: the same object until it changes. Undefined for an unknown tool. */
  find(tool: string, caller: Caller): Promise<unknown>;
  /** Discards the list: the next look-up reads it again. */
  forget(): void;
}

/** Servers that provide schemas without a list request, such as the SDK's `McpServer`. */
interface TellsSchemas {
  toolInputSchemaJson(name: string): unknown;
}

/**
 * Creates the look-up for one server: from the server object, or else from one `tools/list`, kept until the list changes.
 * @param begin see {@link Backend.begin}
 */
export function createSchemaLookup(server: McpLike, begin: Backend['begin']): SchemaLookup {
  if (!tellsSchemas(server)) return createListedSchemas(begin);
  return { find: async (tool) => server.toolInputSchemaJson(tool), forget: () => {} };
}

/**
 * Creates the look-up in the list of tools, which is read on first use, and again if that failed.
 * @param begin see {@link Backend.begin}
 */
export function createListedSchemas(begin: Backend['begin']): SchemaLookup {
  let reading: Promise<ListedSchemas> | undefined;
  return {
    async find(tool, caller) {
      reading ??= readSchemas(begin, caller);
      const current = reading;
      const { schemas, isWhole } = await current;
      if (!isWhole && reading === current) reading = undefined;
      return schemas.get(tool);
    },
    forget() {
      reading = undefined;
    },
  };
}

/** Result of a list of tools. */
interface ListedSchemas {
  schemas: Map<unknown, unknown>;
  /** True if the server answered for every page. */
  isWhole: boolean;
}

function tellsSchemas(server: McpLike): server is McpLike & TellsSchemas {
  return 'toolInputSchemaJson' in server && typeof server.toolInputSchemaJson === 'function';
}

async function readSchemas(begin: Backend['begin'], caller: Caller): Promise<ListedSchemas> {
  const { tools, isWhole } = await readToolList(begin, caller);
  return { schemas: new Map(tools.map(({ name, inputSchema }) => [name, inputSchema])), isWhole };
}

/** Lifetime of a list, in milliseconds: an old schema rejects no call for longer. */
const lifeMs = 10_000;

/** Maximum number of kept lists. */
const maxCallers = 1000;

/**
 * Creates the look-up for servers that may not report changes of their tools: the list of each caller, read again after
 * ten seconds.
 * @param begin see {@link Backend.begin}
 */
export function createRecentSchemas(begin: Backend['begin']): SchemaLookup {
  const recent = new Map<string, { schemas: SchemaLookup; until: number }>();

  const schemasOf = ({ authInfo }: Caller): SchemaLookup => {
    const key = JSON.stringify([principalKey(authInfo), authInfo.scopes]);
    const known = recent.get(key);
    if (known && known.until > performance.now()) return known.schemas;
    const schemas = createListedSchemas(begin);
    recent.delete(key);
    recent.set(key, { schemas, until: performance.now() + lifeMs });
    const [oldest] = recent.keys();
    if (recent.size > maxCallers && oldest !== undefined) recent.delete(oldest);
    return schemas;
  };
  return {
    find: (tool, caller) => schemasOf(caller).find(tool, caller),
    forget: () => recent.clear(),
  };
}
