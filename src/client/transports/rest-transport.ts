import type {
  JSONRPCMessage,
  RequestId,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import { ClientError } from '../client-error.ts';
import type { Fetch } from '../context.ts';
import { isRedirect } from '../limited-fetch.ts';
import { describeFailure } from '../network-failure.ts';
import { requireUrl } from '../url-policy.ts';

/** What the transport needs. */
export interface RestClientTransportOptions {
  /** URL of the Rest endpoint. */
  url: string | URL;
  /** What requests go through; one that carries the login, see `withAuthorization`, where a server asks for it. */
  fetch: Fetch;
  /** Longest wait for an answer, in milliseconds; 60 s by default, longer than servers wait for their tools. */
  timeoutMs?: number;
  /** Allows `http` to hosts that are not loopback. */
  dangerouslyAllowHttp?: boolean;
}

const defaultTimeoutMs = 60_000;

const noAnswer = { code: -32001, message: 'The server did not answer this request in time.' };

/**
 * A Rest server, to the SDK's client: each message is a POST of its own, and its answer comes with it. The server
 * cannot ask anything back, nor tell progress.
 * @see docs/rest.md (B7-08, B7-09, B7-15)
 */
export class RestClientTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #url: string;
  readonly #fetch: Fetch;
  readonly #timeoutMs: number;
  readonly #closed = new AbortController();
  #protocolVersion: string | undefined;

  /** @param options where to, and through what @throws ClientError `bad_url` */
  constructor({
    url,
    fetch,
    timeoutMs = defaultTimeoutMs,
    dangerouslyAllowHttp = false,
  }: RestClientTransportOptions) {
    this.#url = requireUrl(String(url), 'The Rest URL', { dangerouslyAllowHttp }).href;
    this.#fetch = fetch;
    this.#timeoutMs = timeoutMs;
  }

  /** Part of the SDK's interface; there is nothing to begin. */
  async start(): Promise<void> {}

  /** Names the negotiated revision on every later request (B3-16). */
  setProtocolVersion(version: string): void {
    this.#protocolVersion = version;
  }

  /**
   * Posts a message, and hands on what it is answered with.
   * @throws ClientError `timed_out`, `unreachable`, `redirected`, `server_error`; what the given fetch throws
   */
  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    const asked = 'method' in message && 'id' in message ? message.id : undefined;
    const { ok, status, body } = await this.#post(message, options);
    const answers = (Array.isArray(body) ? body : [body]).filter(isAnswer);
    if (asked === undefined) {
      if (!ok) throw this.#refused(status);
      return;
    }
    // A refusal may answer without the id of the request it refuses.
    const own = answers.find(({ id }) => id === asked);
    const refusal = ok ? undefined : answers.find(({ id, error }) => error && (id ?? null) === null);
    const answer = own ?? (refusal && { ...refusal, id: asked });
    if (!answer && !ok) throw this.#refused(status);
    this.onmessage?.((answer ?? { jsonrpc: '2.0', id: asked, error: noAnswer }) as JSONRPCMessage);
  }

  /** Gives up on what runs. */
  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    this.onclose?.();
  }

  async #post(
    message: JSONRPCMessage,
    { requestSignal, headers = {} }: TransportSendOptions,
  ): Promise<Posted> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const signals = [timeout, this.#closed.signal, ...(requestSignal ? [requestSignal] : [])];
    try {
      const response = await this.#fetch(this.#url, {
        method: 'POST',
        headers: {
          ...headers,
          accept: 'application/json',
          'content-type': 'application/json',
          ...(this.#protocolVersion === undefined ? {} : { 'mcp-protocol-version': this.#protocolVersion }),
        },
        body: JSON.stringify(message),
        redirect: 'manual',
        signal: AbortSignal.any(signals),
      });
      const { ok, status } = response;
      if (isRedirect(response))
        throw new ClientError('redirected', `${this.#url} answered with a redirect, which is not followed.`);
      return { ok, status, body: parse(await response.text()) };
    } catch (error) {
      if (error instanceof ClientError) throw error;
      if (timeout.aborted) throw new ClientError('timed_out', `${this.#url} did not answer in time.`);
      throw new ClientError('unreachable', `${this.#url} cannot be reached: ${describeFailure(error)}.`);
    }
  }

  #refused(status: number): ClientError {
    return new ClientError('server_error', `${this.#url} answered with ${status}.`);
  }
}

/** What a POST was answered with. */
interface Posted {
  ok: boolean;
  status: number;
  /** Undefined where it is not JSON. */
  body: unknown;
}

/** A JSON-RPC answer, as far as it is looked at. */
interface Answer {
  id?: RequestId | null;
  error?: unknown;
}

function isAnswer(value: unknown): value is Answer {
  return typeof value === 'object' && value !== null && ('result' in value || 'error' in value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
