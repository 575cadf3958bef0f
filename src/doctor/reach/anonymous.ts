import { type Challenge, parseChallenges } from '../../oauth/challenge.ts';
import { parseObject } from '../../oauth/foreign-json.ts';
import { type Answer, type Answered, ask, mediaType } from '../ask.ts';
import { initializeRequest, legacyRevision, mcpRequest, modernRequest } from '../requests.ts';
import type { Subject } from '../subject.ts';

/** Fact: what `initialize` without a token is answered. A session that begins is ended when the examination is over. */
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

/** Fact: what a GET for an event stream without a token is answered. */
export async function anonymousStream(subject: Subject): Promise<Answer> {
  return ask(subject, subject.url, streamRequest());
}

/** The tool that `tools/call` is tried with: nobody has it, so nothing happens. */
const nobodysTool = 'gatehouse-doctor-no-such-tool';

/** Makes a request with more fields than its own. */
type Asking = (headers?: Record<string, string>) => RequestInit;

/** The requests for tools of the revisions up to 2025-11-25, in the session that anybody may begin, if there is one. */
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
  /** To `tools/list` of 2026-07-28, which needs no session. */
  modernList: Answer;
}

/** Fact: what `tools/list` and `tools/call` without a token are answered, whatever `initialize` is. */
export async function anonymousTools(subject: Subject): Promise<AnonymousTools> {
  const { list, call } = await toolRequests(subject);
  return {
    list: await ask(subject, subject.url, list()),
    call: await ask(subject, subject.url, call()),
    modernList: await ask(subject, subject.url, modernRequest('tools/list')),
  };
}

/** The first refusal of a request without a token, with what it says. */
export interface Refusal {
  answer: Answered;
  /** `WWW-Authenticate`, its fields joined by a comma; null if there is none. */
  header: string | null;
  challenges: readonly Challenge[];
  /** Makes the request that was refused once more. */
  again: Asking;
}

/** Fact: the first 401 that a client without a token meets; undefined if it meets none. */
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

/** The value of `resource_metadata`: of the bearer challenge, else of any. */
export function challengedMetadata({ challenges }: Pick<Refusal, 'challenges'>): string | undefined {
  const named = challenges.filter(({ parameters }) => parameters.resource_metadata !== undefined);
  return (named.find(({ scheme }) => scheme === 'bearer') ?? named[0])?.parameters.resource_metadata;
}

/** JSON-RPC "Invalid params": so answers who has looked for a tool that does not exist. */
const invalidParams = -32602;

/** Returns the JSON-RPC message of a response, also if it arrived as an event; undefined if there is none. */
export function messageOf(answer: Answer): Record<string, unknown> | undefined {
  if (answer.kind === 'unanswered') return undefined;
  const isStream = mediaType(answer) === 'text/event-stream';
  return parseObject(isStream ? (/^data:[ ]?(\S[^\r\n]*)/m.exec(answer.text)?.[1] ?? '') : answer.text);
}

/**
 * Returns true if an operation was carried out, or would have been if there were what it names. An error of JSON-RPC
 * with status 200 is no service: some servers refuse in that way.
 * @param answer to a JSON-RPC request, or to a GET for a stream
 * @see JSON-RPC 2.0 sections 5 and 5.1
 */
export function isServed(answer: Answer): boolean {
  if (answer.kind === 'unanswered' || answer.status < 200 || answer.status > 299) return false;
  if (answer.method === 'GET') return mediaType(answer) === 'text/event-stream';
  const { result, error } = messageOf(answer) ?? {};
  return result !== undefined || (Object(error) as { code?: unknown }).code === invalidParams;
}
