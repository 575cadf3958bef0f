import { type Challenge, parseChallenges } from '../../oauth/challenge.ts';
import { parseObject } from '../../oauth/foreign-json.ts';
import { type Answer, type Answered, ask, mediaType } from '../ask.ts';
import { initializeRequest, legacyRevision, mcpRequest, modernRequest } from '../requests.ts';
import type { Subject } from '../subject.ts';

/** Fact: the response to `initialize` without a token. A session is ended when the examination is over. */
export async function anonymousInitialize(subject: Subject): Promise<Answer> {
  const answer = await ask(subject, subject.url, initializeRequest());
  const session = sessionOf(answer);
  if (session !== undefined)
    subject.atEnd(() =>
      ask(subject, subject.url, { method: 'DELETE', headers: { 'mcp-session-id': session } }),
    );
  return answer;
}

function sessionOf(answer: Answer): string | undefined {
  return answer.kind === 'answered' ? (answer.headers.get('mcp-session-id') ?? undefined) : undefined;
}

const streamRequest = (headers: Record<string, string> = {}): RequestInit => ({
  headers: { accept: 'text/event-stream', ...headers },
});

/** Fact: the response to a GET for an event stream without a token. */
export async function anonymousStream(subject: Subject): Promise<Answer> {
  return ask(subject, subject.url, streamRequest());
}

/** Name for a test of `tools/call`: no server has this tool, so nothing happens. */
const nobodysTool = 'gatehouse-doctor-no-such-tool';

/** Builds a request with additional headers. */
type Asking = (headers?: Record<string, string>) => RequestInit;

/** Builds the requests for tools of the revisions up to 2025-11-25, in the session without a token if there is one. */
async function toolRequests(subject: Subject): Promise<{ list: Asking; call: Asking }> {
  const session = sessionOf(await subject.fact(anonymousInitialize));
  const fields = {
    'mcp-protocol-version': legacyRevision,
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  };
  return {
    list: (headers) => mcpRequest('tools/list', {}, { ...fields, ...headers }),
    call: (headers) =>
      mcpRequest('tools/call', { name: nobodysTool, arguments: {} }, { ...fields, ...headers }),
  };
}

/** Responses to requests for tools without a token. */
interface AnonymousTools {
  list: Answer;
  call: Answer;
  /** Response to `tools/list` of 2026-07-28, which needs no session. */
  modernList: Answer;
}

/** Fact: the responses to `tools/list` and `tools/call` without a token, whatever `initialize` returned. */
export async function anonymousTools(subject: Subject): Promise<AnonymousTools> {
  const { list, call } = await toolRequests(subject);
  return {
    list: await ask(subject, subject.url, list()),
    call: await ask(subject, subject.url, call()),
    modernList: await ask(subject, subject.url, modernRequest('tools/list')),
  };
}

/** The first 401 response to a request without a token. */
export interface Refusal {
  answer: Answered;
  /** `WWW-Authenticate`, its fields joined by a comma; null if there is none. */
  header: string | null;
  challenges: readonly Challenge[];
  /** Builds the rejected request again. */
  again: Asking;
}

/** Fact: the first 401 response to a client without a token; undefined if there is none. */
export async function firstRefusal(subject: Subject): Promise<Refusal | undefined> {
  const initialize = await subject.fact(anonymousInitialize);
  const atOnce =
    refusalOf(initialize, initializeRequest) ?? refusalOf(await subject.fact(anonymousStream), streamRequest);
  if (atOnce || initialize.kind !== 'answered' || !isSuccess(initialize)) return atOnce;
  const { list, call } = await toolRequests(subject);
  const answers = await subject.fact(anonymousTools);
  return refusalOf(answers.list, list) ?? refusalOf(answers.call, call);
}

/** Reads a 401; undefined for other answers. */
function refusalOf(answer: Answer, again: Asking): Refusal | undefined {
  if (answer.kind !== 'answered' || answer.status !== 401) return undefined;
  const header = answer.headers.get('www-authenticate');
  return { answer, header, challenges: parseChallenges(header ?? ''), again };
}

/** Returns true if an answer is 2xx. */
export function isSuccess({ status }: Pick<Answered, 'status'>): boolean {
  return status >= 200 && status < 300;
}

/** Returns `resource_metadata` of the bearer challenge, or else of any other. */
export function challengedMetadata({ challenges }: Pick<Refusal, 'challenges'>): string | undefined {
  const named = challenges.filter(({ parameters }) => parameters.resource_metadata !== undefined);
  return (named.find(({ scheme }) => scheme === 'bearer') ?? named[0])?.parameters.resource_metadata;
}

/** JSON-RPC "Invalid params", the response of a server that has looked for an unknown tool. */
const invalidParams = -32602;

/** Returns the JSON-RPC message of a response, also if it arrived as an event; undefined if there is none. */
export function messageOf(answer: Answer): Record<string, unknown> | undefined {
  if (answer.kind === 'unanswered') return undefined;
  const isStream = mediaType(answer) === 'text/event-stream';
  return parseObject(isStream ? (/^data:[ ]?(\S[^\r\n]*)/m.exec(answer.text)?.[1] ?? '') : answer.text);
}

/**
 * Returns true if an operation was executed, or would have been for an existing name. A JSON-RPC error with status 200
 * does not count, because some servers reject requests that way.
 * @param answer response to a JSON-RPC request, or to a GET for a stream
 * @see JSON-RPC 2.0 sections 5 and 5.1
 */
export function isServed(answer: Answer): boolean {
  if (answer.kind === 'unanswered' || answer.status < 200 || answer.status > 299) return false;
  if (answer.method === 'GET') return mediaType(answer) === 'text/event-stream';
  const { result, error } = messageOf(answer) ?? {};
  return result !== undefined || (Object(error) as { code?: unknown }).code === invalidParams;
}
