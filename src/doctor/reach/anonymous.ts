import { type Challenge, parseChallenges } from '../../oauth/challenge.ts';
import { type Answer, type Answered, ask } from '../ask.ts';
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
export interface AnonymousTools {
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
