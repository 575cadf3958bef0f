import { describeFailure } from '../client/building-blocks.ts';
import { requireUrl } from '../client/index.ts';
import { quote } from '../client/quote.ts';
import { isLocalAddress } from '../client/url-policy.ts';
import type { Subject } from './subject.ts';

/** Result of one request. */
export type Answer = Answered | Unanswered;

interface Asked {
  method: string;
  url: string;
  /** Number of the exchange; empty if nothing was sent. */
  evidence: readonly number[];
}

/** A response, as far as it was read. */
export interface Answered extends Asked {
  kind: 'answered';
  status: number;
  headers: Headers;
  /** The body, up to a limit; of an event stream only up to its first message. May contain secrets. */
  text: string;
  /** True if the body is longer. */
  truncated: boolean;
}

/** A request without a response. */
interface Unanswered extends Asked {
  kind: 'unanswered';
  /** `refused`: the doctor did not send the request. */
  reason: 'timed_out' | 'unreachable' | 'refused';
  /** Error code of the runtime: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
  code?: string;
  /** Reason as a sentence. */
  why: string;
}

/** Maximum size of a body that is read, in bytes. */
const maxBodyBytes = 256 * 1024;

/** Maximum time for one response, in milliseconds, unless the context of the subject has another. */
export const defaultAnswerMs = 10_000;

/** A non-empty message of an event stream. */
const streamMessage = /(?:^|\n)data:[ ]?\S[^\r\n]*\r?\n\r?\n/;

async function readText(
  response: Response,
  enough: (text: string) => boolean,
): Promise<{ text: string; truncated: boolean }> {
  const reader = response.body?.getReader();
  // A byte order mark stays: whoever reads the text has to see that it is there.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  let bytes = 0;
  try {
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
      bytes += part.value.byteLength;
      text += decoder.decode(part.value, { stream: true });
      if (bytes <= maxBodyBytes && !enough(text)) continue;
      await reader?.cancel();
      return { text, truncated: true };
    }
  } catch {
    return { text, truncated: true };
  }
  return { text: text + decoder.decode(), truncated: false };
}

/**
 * Sends one request with limits of time and size, and without following redirects. Never throws. A server on a public
 * host cannot make the doctor send requests to the local network (T-185, T-189).
 * @param subject the examined server
 * @param url target; checked first if a server named it
 * @param init method, headers, body
 */
export async function ask(subject: Subject, url: string, init: RequestInit = {}): Promise<Answer> {
  const method = (init.method ?? 'GET').toUpperCase();
  const from = URL.parse(subject.url);
  const refused = (why: string): Unanswered => ({
    kind: 'unanswered',
    method,
    url,
    evidence: [],
    reason: 'refused',
    why,
  });
  if (URL.parse(url)?.origin !== from?.origin || from === null)
    try {
      requireUrl(url, 'The URL', {
        dangerouslyAllowHttp: true,
        allowLocal: from !== null && isLocalAddress(from.hostname),
      });
    } catch (error) {
      return refused(error instanceof Error ? error.message : 'it is no URL');
    }
  const timeout = AbortSignal.timeout(subject.context.timeoutMs ?? defaultAnswerMs);
  const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
  const pending = subject.context.fetch(url, { ...init, method, redirect: 'manual', signal });
  const asked = { method, url, evidence: [subject.exchanges.length] };
  try {
    const response = await pending;
    const isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream');
    const body = await readText(response, (text) => isStream && streamMessage.test(text));
    return { kind: 'answered', ...asked, status: response.status, headers: response.headers, ...body };
  } catch (error) {
    const code = failureCode(error);
    return {
      kind: 'unanswered',
      ...asked,
      reason: timeout.aborted ? 'timed_out' : 'unreachable',
      ...(code === undefined ? {} : { code }),
      why: timeout.aborted ? 'no answer in time' : describeFailure(error),
    };
  }
}

/**
 * Returns the error code of a failed fetch, from its deepest cause: `ECONNREFUSED`, `CERT_HAS_EXPIRED`.
 * @param error rejection of a fetch
 */
export function failureCode(error: unknown): string | undefined {
  let deepest = error;
  while (deepest instanceof Error && deepest.cause instanceof Error) deepest = deepest.cause;
  const { code } = Object(deepest) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

/** Returns the media type of a response in lower case, without parameters; `''` if there is none. */
export function mediaType({ headers }: Pick<Answered, 'headers'>): string {
  return (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** Returns true if a response is an HTML page. */
export function isHtml({ headers }: Pick<Answered, 'headers'>): boolean {
  return /^\s*text\/html\b/i.test(headers.get('content-type') ?? '');
}

/**
 * Describes a response in a few words: status and media type, the target of a redirect, or the reason why there is
 * none.
 */
export function describeAnswer(answer: Answer): string {
  if (answer.kind === 'unanswered')
    return answer.reason === 'refused' ? `not asked: ${answer.why}` : `no answer (${answer.why})`;
  const location = answer.headers.get('location');
  if (answer.status >= 300 && answer.status < 400 && location !== null)
    return `${answer.status} to ${quote(location)}`;
  const type = mediaType(answer);
  return type === ''
    ? `${answer.status}`
    : `${answer.status} ${/^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : quote(type)}`;
}

/** Statuses of proxies that do not reach the server; 520 and above are Cloudflare's. */
const statuses = new Set([502, 504, 521, 522, 523, 524, 530]);

/**
 * Returns true for a response of a proxy that does not reach its server. 503 counts only as a page, as HAProxy and
 * Apache send it, because starting servers send it, too.
 * @see RFC 9110 sections 15.6.3 to 15.6.5
 */
export function isGatewayError(answer: Pick<Answered, 'status' | 'headers'>): boolean {
  return statuses.has(answer.status) || (answer.status === 503 && isHtml(answer));
}
