import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { modernRequest } from '../../../mcp/support/gate.ts';
import { ada, type RunningGatehouse } from '../../../support/gatehouse.ts';
import { obtainTokens } from '../../../support/oauth.ts';
import { messagesIn, type OpenStream, openStream } from './stream.ts';

/** Where a gatehouse is reached, in this process or in one of its own. */
export type Attacked = Pick<RunningGatehouse, 'url' | 'mcpUrl' | 'listensAt'>;

/** What one account with one client holds: a token for each protected resource. */
export interface Principal {
  mcp: string;
  sse: string;
  rest: string;
  /** A refresh token, which opens no door. */
  refreshToken: string;
  clientId: string;
}

/** An answer, read to its end. */
export interface Answered {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  ms: number;
}

/** What of a request a test chooses; a header that is undefined is left out. */
export interface Chosen {
  method?: string;
  headers?: Record<string, string | string[] | undefined>;
  body?: string | Uint8Array;
}

/** A way messages reach the MCP server. */
export interface Door {
  name: 'mcp 2025' | 'mcp 2026' | 'messages' | 'rest';
  path: string;
  /** Headers every message is sent with here. */
  headers: Record<string, string>;
  /** Posts a body. */
  post(body: string | Uint8Array, headers?: Chosen['headers']): Promise<Answered>;
  /** Writes a message the way of this door, with the headers that belong to it. */
  write(
    method: string,
    params?: Record<string, unknown>,
    id?: unknown,
  ): { body: string; headers: Record<string, string> };
  /** Sends a request and gives the JSON-RPC message that answers it, on whatever way it comes. */
  ask(method: string, params?: Record<string, unknown>, id?: unknown): Promise<Record<string, unknown>>;
  /** Everything that came on the stream that stands open for it. */
  heard(): string;
  /** Lets go of what stands open for it. */
  close(): void;
}

/** Names of all doors, for tables of tests. */
export const doorNames = ['mcp 2025', 'mcp 2026', 'messages', 'rest'] as const;

/** Takes tokens for every protected resource, with one client. */
export async function enter(
  gatehouse: Attacked,
  options: { person?: typeof ada; scopes?: string[] } = {},
): Promise<Principal> {
  const { person = ada, scopes } = options;
  const chosen = { person, ...(scopes && { scopes, scope: scopes.join(' ') }) };
  const mcp = await obtainTokens(gatehouse, chosen);
  const at = async (path: string): Promise<string> => {
    const mcpUrl = `${gatehouse.url}${path}`;
    const { tokens } = await obtainTokens({ ...gatehouse, mcpUrl }, { ...chosen, clientId: mcp.clientId });
    return tokens.access_token;
  };
  return {
    mcp: mcp.tokens.access_token,
    sse: await at('/sse'),
    rest: await at('/rest'),
    refreshToken: mcp.tokens.refresh_token,
    clientId: mcp.clientId,
  };
}

/** Sends one request as it is: no header is added but those of the framing, and errors of the connection reject. */
export function send(
  gatehouse: Pick<Attacked, 'listensAt'>,
  path: string,
  { method = 'POST', headers = {}, body }: Chosen = {},
): Promise<Answered> {
  const began = performance.now();
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new Promise((resolve, reject) => {
    const request = httpRequest(gatehouse.listensAt, {
      method,
      path,
      agent: false,
      headers: {
        ...(body === undefined || headers['transfer-encoding']
          ? {}
          : { 'content-length': String(Buffer.byteLength(body)) }),
        ...Object.fromEntries(given),
      },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString('utf8'),
          ms: performance.now() - began,
        }),
      );
    });
    request.end(body);
  });
}

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** The first message of a session. */
export const initialize = (protocolVersion = '2025-11-25', id: unknown = 0): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo: { name: 'attacker', version: '1' } },
  });

/** Opens a session at /mcp; gives its id. */
export async function openSession(
  gatehouse: Attacked,
  token: string,
  revision = '2025-11-25',
): Promise<string> {
  const headers = { ...json, authorization: `Bearer ${token}` };
  const answer = await send(gatehouse, '/mcp', { headers, body: initialize(revision) });
  const id = answer.headers['mcp-session-id'];
  if (typeof id !== 'string') throw new Error(`no session: ${answer.status} ${answer.body}`);
  return id;
}

/** Opens a stream of HTTP+SSE; gives it with the path to post to. */
export async function openSse(
  gatehouse: Attacked,
  token: string,
): Promise<{ stream: OpenStream; path: string }> {
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
  const stream = await openStream(gatehouse.listensAt, '/sse', headers);
  if (stream.status !== 200) throw new Error(`no stream: ${stream.status}`);
  const [, path = ''] = await stream.waitFor(/event: endpoint\ndata: (\S+)\n\n/);
  return { stream, path };
}

/** Opens a door for a principal. */
export async function openDoor(gatehouse: Attacked, name: Door['name'], principal: Principal): Promise<Door> {
  const token = principal[name === 'rest' ? 'rest' : name === 'messages' ? 'sse' : 'mcp'];
  const bearer = { authorization: `Bearer ${token}` };
  const at = (path: string, headers: Record<string, string>, stream?: OpenStream): Door => {
    const door: Door = {
      name,
      path,
      headers,
      post: (body, more = {}) => send(gatehouse, path, { headers: { ...headers, ...more }, body }),
      write(method, params, id = 1) {
        if (name === 'mcp 2026') {
          const { headers: own = {}, json: message } = modernRequest(method, params, id as number);
          return { body: JSON.stringify(message), headers: own };
        }
        return {
          body: JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) }),
          headers: {},
        };
      },
      async ask(method, params, id = 1) {
        const written = door.write(method, params, id);
        const { status, body } = await door.post(written.body, written.headers);
        return stream && status === 202 ? stream.answerTo(id) : messageOf(body);
      },
      heard: () => stream?.text() ?? '',
      close: () => stream?.leave(),
    };
    return door;
  };
  if (name === 'rest') return at('/rest', { ...json, ...bearer });
  if (name === 'mcp 2026') return at('/mcp', { ...json, ...bearer });
  if (name === 'mcp 2025') {
    const session = await openSession(gatehouse, token);
    const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
    return at('/mcp', { ...json, ...bearer, ...headers });
  }
  const { stream, path } = await openSse(gatehouse, token);
  const door = at(path, { ...json, ...bearer }, stream);
  await door.ask('initialize', JSON.parse(initialize()).params, 'initialize');
  await door.post('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  return door;
}

/** The JSON-RPC message of a body, JSON or the last event of a stream. */
export function messageOf(body: string): Record<string, unknown> {
  return messagesIn(body).at(-1) ?? (JSON.parse(body) as Record<string, unknown>);
}

/** The error code of an answer that is a JSON-RPC error; undefined for any other. */
export function codeOf(answer: Pick<Answered, 'body'>): number | undefined {
  try {
    return (messageOf(answer.body).error as { code?: number } | undefined)?.code;
  } catch {
    return undefined;
  }
}

/** Lines of a log that no attack may cause: failures of ours. */
export function failures(log: readonly string[]): string[] {
  return log.filter((line) => (JSON.parse(line) as { level: string }).level === 'error');
}
