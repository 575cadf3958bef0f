import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AuthInfo, JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { checkContentEncoding, checkContentType, headerOf, readBody } from '../http/dispatch.ts';
import { isRefusal } from '../http/refusal.ts';
import { errorAnswer, hasRepeatedId } from '../legacy/collected-answers.ts';
import type { Message } from '../protocol.ts';
import { parseJson } from '../reading/json.ts';
import { type Messages, readMessages, withPlainContent } from '../reading/messages.ts';
import { findUnserializable, notSerializable } from '../sdk/serializable.ts';
import { acceptsJson, checkRestMethod, defaultRestTimeoutMs, restBody } from './endpoint.ts';
import { RestPosts } from './posts.ts';

/** Options of a Rest server: its address and its callers. */
export interface RestServerTransportOptions {
  /** Path it serves; `/rest` by default. */
  endpoint?: string;
  /** Port to listen on; 9593 by default, 0 for any free one. */
  port?: string | number;
  /** Address to listen on; 127.0.0.1 by default. */
  host?: string;
  /** Names under which clients reach it: others in `Host` or `Origin` are refused. Those of this machine by default. */
  allowedHosts?: readonly string[];
  /**
   * Returns the caller of a request; undefined rejects it with 401. Without it, every client that can reach the port may call.
   */
  authenticate?(request: IncomingMessage): AuthInfo | undefined | Promise<AuthInfo | undefined>;
  /** Longest wait for the answers to one POST, in milliseconds; 30 s by default. */
  timeoutMs?: number;
  /** Answers `[]` after the time limit, as the first implementations did (B7-09). */
  legacyTimeoutBody?: boolean;
  /** Largest request body; 4 MiB by default. */
  maxBodyBytes?: number;
  /** Takes a line when it listens, and for answers of the server that JSON cannot hold; standard error by default. */
  log?(line: string): void;
}

/**
 * A Rest server for one MCP server of the SDK, version 2 or 1: `await server.connect(transport)`, then
 * `await transport.startServer()`. Ids are rewritten, so that clients that choose the same ones never get each
 * other's answers (B7-13, T-127). For a server behind OAuth use the gated endpoint instead.
 * @see docs/rest.md (B7-01 to B7-14)
 */
export class RestServerTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #options: RestServerTransportOptions;
  readonly #posts: RestPosts;
  #server: Server | undefined;

  /**
   * @param options its address and its callers
   * @throws TypeError for an unknown option, and for an endpoint that is no path
   */
  constructor(options: RestServerTransportOptions = {}) {
    checkOptions(options);
    this.#options = options;
    this.#posts = new RestPosts(options.timeoutMs ?? defaultRestTimeoutMs, (message, extra) =>
      this.onmessage?.(message as JSONRPCMessage, extra),
    );
  }

  /** The URL it listens at; undefined while it does not. */
  get url(): string | undefined {
    const address = this.#server?.address() as AddressInfo | null | undefined;
    if (!address) return undefined;
    const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
    return `http://${host}:${address.port}${this.#endpoint}`;
  }

  get #endpoint(): string {
    return this.#options.endpoint ?? '/rest';
  }

  #log(line: string): void {
    if (this.#options.log) this.#options.log(line);
    else process.stderr.write(`${line}\n`);
  }

  /** Part of the SDK's interface; requests come when `startServer` listens, or through `handleRequest`. */
  async start(): Promise<void> {}

  /**
   * Listens, and says where.
   * @throws Error "Server is already running"; what Node says where the port cannot be taken (B7-02)
   */
  async startServer(): Promise<void> {
    if (this.#server) throw new Error('Server is already running');
    const { host = '127.0.0.1', port = 9593 } = this.#options;
    const server = createServer((request, response) => {
      if (request.url?.split('?')[0] === this.#endpoint) void this.handleRequest(request, response);
      else this.#reply(response, 404, errorBody(-32000, 'Not found'));
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(Number(port), host, () => {
        server.off('error', reject);
        resolve();
      });
    }).catch((error) => {
      this.#server = undefined;
      throw error;
    });
    server.on('error', (error) => this.onerror?.(error));
    this.#log(`MCP Rest server listens at ${this.url}`);
  }

  /** Stops listening. Running requests get an error, and connections end (B7-12). */
  async stopServer(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.#posts.endAll();
    if (!server) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    await closed;
  }

  /**
   * Answers one request, of this transport's own HTTP server or of another one.
   * @param parsedBody the body as JSON, if another handler has read it
   */
  async handleRequest(
    request: IncomingMessage,
    response: ServerResponse,
    parsedBody?: unknown,
  ): Promise<void> {
    try {
      await this.#handle(request, response, parsedBody);
    } catch (error) {
      this.onerror?.(error as Error);
      if (!response.headersSent)
        this.#reply(response, 500, errorBody(errorCodes.internalError, 'Internal error'));
    }
  }

  /** Passes a response of the server to its client. Notifications are dropped, requests rejected (B7-11, B7-14). */
  async send(message: JSONRPCMessage): Promise<void> {
    const said = message as Message;
    const fault = said.method === undefined && said.id !== undefined ? findUnserializable(said) : undefined;
    if (fault === undefined || said.id === undefined) return this.#posts.hear(said);
    const error = new Error(`The MCP server gave something that cannot be written as JSON: ${fault}.`);
    this.#log(error.message);
    this.onerror?.(error);
    this.#posts.hear(errorAnswer(said.id, notSerializable));
  }

  /** Stops listening, and notifies the server through `onclose` (B7-12). */
  async close(): Promise<void> {
    await this.stopServer();
    this.onclose?.();
  }

  async #handle(request: IncomingMessage, response: ServerResponse, parsedBody: unknown): Promise<void> {
    const { host = '127.0.0.1', allowedHosts = [...loopbackHosts, host], authenticate } = this.#options;
    const foreign = checkRestAddress(request.headers, allowedHosts);
    if (foreign) return this.#reply(response, 403, errorBody(-32000, forbidden[foreign]));
    if (checkRestMethod(request.method ?? ''))
      return this.#reply(response, 405, errorBody(-32000, 'Method not allowed'), { Allow: 'POST' });
    const authInfo = await authenticate?.(request);
    if (authenticate && !authInfo)
      return this.#reply(response, 401, errorBody(-32000, 'Unauthorized'), { 'WWW-Authenticate': 'Bearer' });
    if (!acceptsJson(headerOf(request.headers, 'accept')))
      return this.#reply(
        response,
        406,
        errorBody(-32000, 'Not Acceptable: Client must accept application/json'),
      );
    if (
      checkContentType(headerOf(request.headers, 'content-type')) ??
      checkContentEncoding(headerOf(request.headers, 'content-encoding'))
    )
      return this.#reply(
        response,
        415,
        errorBody(-32000, 'Unsupported Media Type: Content-Type must be application/json'),
      );
    if (!this.onmessage) throw new Error('No MCP server is connected to this transport.');
    const messages = await this.#read(request, response, parsedBody);
    if (!messages) return;
    await this.#dispatch(messages, authInfo, response);
  }

  async #read(
    request: IncomingMessage,
    response: ServerResponse,
    parsedBody: unknown,
  ): Promise<Messages | undefined> {
    const { maxBodyBytes = 4 * 1024 * 1024 } = this.#options;
    let value = parsedBody;
    if (value === undefined) {
      const bytes = await readBody(request, headerOf(request.headers, 'content-length'), maxBodyBytes);
      if (isRefusal(bytes)) {
        const isTooLarge = bytes.reason === 'body_too_large';
        this.#reply(
          response,
          isTooLarge ? 413 : 400,
          isTooLarge ? errorBody(-32000, 'Payload too large') : parseError,
        );
        return undefined;
      }
      const json = parseJson(bytes);
      if (isRefusal(json)) return this.#refuseUnread(response, json.reason);
      value = json.hasExactNumbers ? withPlainContent(json.value) : json.value;
    }
    const messages = readMessages(value);
    if (isRefusal(messages)) return this.#refuseUnread(response, messages.reason);
    return hasRepeatedId(messages.requests) ? this.#refuseUnread(response, 'request_id_in_use') : messages;
  }

  /** Every body that is not valid is a parse error. The reason goes to `onerror`, not to the caller (B7-10). */
  #refuseUnread(response: ServerResponse, reason: string): undefined {
    this.onerror?.(new Error(`A Rest request could not be read: ${reason}`));
    this.#reply(response, 400, parseError);
  }

  async #dispatch(
    messages: Messages,
    authInfo: AuthInfo | undefined,
    response: ServerResponse,
  ): Promise<void> {
    const onGone = (callback: () => void): void => void response.once('close', callback);
    const { answers, timedOut } = await this.#posts.answer(messages, authInfo ? { authInfo } : {}, onGone);
    if (response.destroyed) return;
    const body = timedOut && this.#options.legacyTimeoutBody ? [] : restBody(answers);
    this.#reply(response, body === undefined ? 202 : 200, body);
  }

  /** The connection ends with the answer (B7-01). */
  #reply(
    response: ServerResponse,
    status: number,
    body?: unknown,
    headers: Record<string, string> = {},
  ): void {
    const text = body === undefined ? '' : JSON.stringify(body);
    const typed = text === '' ? {} : { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
    response.writeHead(status, {
      ...typed,
      'Content-Length': Buffer.byteLength(text),
      Connection: 'close',
      ...headers,
    });
    response.end(text);
  }
}

/** Message for a request rejected by a header. */
const forbidden = {
  Host: 'Forbidden: the Host header names no host of this server; list it in allowedHosts to serve it',
  Origin: 'Forbidden: the Origin header names another site; list its host in allowedHosts to serve its pages',
};

/** Every option there is. */
const optionNames: Record<keyof RestServerTransportOptions, true> = {
  endpoint: true,
  port: true,
  host: true,
  allowedHosts: true,
  authenticate: true,
  timeoutMs: true,
  legacyTimeoutBody: true,
  maxBodyBytes: true,
  log: true,
};

function checkOptions(options: RestServerTransportOptions): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(optionNames, name));
  if (unknown !== undefined)
    throw new TypeError(
      `RestServerTransport has no option ${unknown}. There are ${Object.keys(optionNames).join(', ')}.`,
    );
  const { endpoint = '/' } = options;
  if (!endpoint.startsWith('/'))
    throw new TypeError(
      `RestServerTransport: endpoint must be a path that begins with /: ${JSON.stringify(`/${endpoint}`)}.`,
    );
}

function errorBody(code: number, message: string): object {
  return { jsonrpc: '2.0', error: { code, message }, id: null };
}

const parseError = errorBody(errorCodes.parseError, 'Parse error');

/** Names of this machine. */
export const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Checks that a request is meant for this server and comes from none but its own pages: whoever makes a browser
 * resolve a foreign name to this machine is refused (DNS rebinding; B3-12, T-131).
 * @param allowedHosts names without ports
 * @returns the header that is refused, if any
 */
export function checkRestAddress(
  headers: IncomingHttpHeaders,
  allowedHosts: readonly string[],
): 'Host' | 'Origin' | undefined {
  const host = headerOf(headers, 'host');
  const origin = headerOf(headers, 'origin');
  const isAllowed = (url: string): boolean => {
    const hostname = URL.parse(url)?.hostname;
    return hostname !== undefined && allowedHosts.includes(hostname);
  };
  if (!isAllowed(`http://${host ?? ''}`)) return 'Host';
  return origin === undefined || isAllowed(origin) ? undefined : 'Origin';
}

/** Argument of an MCP SDK handler that may carry credentials: the request, or its context in version 2 or 1. */
export interface MetaCarrier {
  params?: { _meta?: Readonly<Record<string, unknown>> | undefined } | undefined;
  _meta?: Readonly<Record<string, unknown>> | undefined;
  mcpReq?: { _meta?: Readonly<Record<string, unknown>> | undefined } | undefined;
}

/** Sources of process-wide values. */
export interface ProcessValues {
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns a credential that a caller sent along in `params._meta.auth`, or else the process's own (B7-15). The key is
 * matched in upper or lower case: callers write `perplexity_api_key` for `PERPLEXITY_API_KEY`.
 * @param request the request, or the context of its handler
 * @param values the process's own by default
 * @returns `""` if there is none, so that `getAuthValue(request, 'KEY') || getParamValue('key')` works (FA-35)
 */
export function getAuthValue(request: MetaCarrier, key: string, values: ProcessValues = process): string {
  const { auth } = request.params?._meta ?? request._meta ?? request.mcpReq?._meta ?? {};
  return findIgnoringCase(Object.entries(Object(auth)), key) ?? getParamValue(key, values) ?? '';
}

/**
 * Returns a value of the process: `--name=value` of its arguments, else of its environment (B7-15). The name is matched
 * in upper or lower case, the exact one first.
 * @param values the process's own by default
 * @returns undefined if neither has it, or it is empty
 */
export function getParamValue(name: string, { argv, env }: ProcessValues = process): string | undefined {
  const given = argv.flatMap((one) => {
    const [, key, value] = /^--([^=]+)=(.*)$/s.exec(one) ?? [];
    return key === undefined ? [] : [[key, value] as const];
  });
  return findIgnoringCase(given, name) ?? findIgnoringCase(Object.entries(env), name);
}

/** The exact name first; an empty value is none. */
function findIgnoringCase(entries: readonly (readonly [string, unknown])[], key: string): string | undefined {
  const filled = entries.filter(([, value]) => typeof value === 'string' && value !== '');
  const alike = (name: string): boolean => name.toLowerCase() === key.toLowerCase();
  const [, value] = filled.find(([name]) => name === key) ?? filled.find(([name]) => alike(name)) ?? [];
  return typeof value === 'string' ? value : undefined;
}
