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

/** Options of a {@link RestClientTransport}. */
export interface RestClientTransportOptions {
  /** URL of the Rest endpoint. */
  url: string | URL;
  /** Sends the requests; with the login if the server requires one, see `withAuthorization`. */
  fetch: Fetch;
  /**
   * Maximum wait for a response, in milliseconds (default 60 s, longer than servers wait for their tools).
   */
  timeoutMs?: number;
  /** Allows `http` for hosts other than loopback. */
  dangerouslyAllowHttp?: boolean;
}

const defaultTimeoutMs = 60_000;

const noAnswer = { code: -32001, message: 'The server did not answer this request in time.' };

/**
 * The client transport of the Rest binding: each message is a POST of its own, with its response. The server
 * can neither send requests nor report progress.
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

  /** @throws ClientError `bad_url` */
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

  /** Part of the SDK's interface; it does nothing. */
  async start(): Promise<void> {}

  /** Sends the negotiated revision with every later request (B3-16). */
  setProtocolVersion(version: string): void {
    this.#protocolVersion = version;
  }

  /**
   * Sends a message, and passes its response on.
   * @throws ClientError `timed_out`, `unreachable`, `redirected`, `server_error`; the errors of the given
   *   fetch
   */
  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    const asked = 'method' in message && 'id' in message ? message.id : undefined;
    const { ok, status, body } = await this.#post(message, options);
    const answers = (Array.isArray(body) ? body : [body]).filter(isAnswer);
    if (asked === undefined) {
      if (!ok) throw this.#refused(status);
      return;
    }
    // An error response may lack the id of its request.
    const own = answers.find(({ id }) => id === asked);
    const refusal = ok ? undefined : answers.find(({ id, error }) => error && (id ?? null) === null);
    const answer = own ?? (refusal && { ...refusal, id: asked });
    if (!answer && !ok) throw this.#refused(status);
    this.onmessage?.((answer ?? { jsonrpc: '2.0', id: asked, error: noAnswer }) as JSONRPCMessage);
  }

  /** Aborts the running requests. */
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

/** The response to a POST. */
interface Posted {
  ok: boolean;
  status: number;
  /** Undefined if it is not JSON. */
  body: unknown;
}

/** The used members of a JSON-RPC response. */
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
