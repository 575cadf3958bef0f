import { type Challenge, parseChallenges } from '../../oauth/challenge.ts';
import { type Answer, type Answered, ask } from '../ask.ts';
import { initializeRequest, legacyRevision, mcpRequest } from '../requests.ts';
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

/** Fact: what a GET for an event stream without a token is answered. */
export async function anonymousStream(subject: Subject): Promise<Answer> {
  return ask(subject, subject.url, { headers: { accept: 'text/event-stream' } });
}

/** The tool that `tools/call` is tried with: nobody has it, so nothing happens. */
const nobodysTool = 'gatehouse-doctor-no-such-tool';

/** Fact: what a server that lets anybody begin answers to `tools/list` and `tools/call` without a token. */
export async function anonymousTools(subject: Subject): Promise<{ list: Answer; call: Answer }> {
  const session = sessionOf(await subject.fact(anonymousInitialize));
  const headers = {
    'mcp-protocol-version': legacyRevision,
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  };
  const list = await ask(subject, subject.url, mcpRequest('tools/list', {}, headers));
  const call = await ask(
    subject,
    subject.url,
    mcpRequest('tools/call', { name: nobodysTool, arguments: {} }, headers),
  );
  return { list, call };
}

/** The first refusal of a request without a token, with what it says. */
export interface Refusal {
  answer: Answered;
  /** `WWW-Authenticate`, its fields joined by a comma; null where there is none. */
  header: string | null;
  challenges: readonly Challenge[];
}

/** Fact: the first 401 that a client without a token meets; undefined where it meets none. */
export async function firstRefusal(subject: Subject): Promise<Refusal | undefined> {
  const initialize = await subject.fact(anonymousInitialize);
  const atOnce = refusalOf(initialize) ?? refusalOf(await subject.fact(anonymousStream));
  if (atOnce || initialize.kind !== 'answered' || !isSuccess(initialize)) return atOnce;
  const { list, call } = await subject.fact(anonymousTools);
  return refusalOf(list) ?? refusalOf(call);
}

/** Reads a 401; undefined for other answers. */
function refusalOf(answer: Answer): Refusal | undefined {
  if (answer.kind !== 'answered' || answer.status !== 401) return undefined;
  const header = answer.headers.get('www-authenticate');
  return { answer, header, challenges: parseChallenges(header ?? '') };
}

/** Whether an answer is 2xx. */
export function isSuccess({ status }: Pick<Answered, 'status'>): boolean {
  return status >= 200 && status < 300;
}

/** The value of `resource_metadata`: of the bearer challenge, else of any. */
export function challengedMetadata({ challenges }: Pick<Refusal, 'challenges'>): string | undefined {
  const named = challenges.filter(({ parameters }) => parameters.resource_metadata !== undefined);
  return (named.find(({ scheme }) => scheme === 'bearer') ?? named[0])?.parameters.resource_metadata;
}

/** A token that nobody issued. */
const madeUpToken = 'gatehouse-doctor-made-this-up';

/** Fact: what `initialize` with a token that nobody issued is answered. */
export async function withBadToken(subject: Subject): Promise<Answer> {
  return ask(subject, subject.url, initializeRequest({ authorization: `Bearer ${madeUpToken}` }));
}

/** Fact: the same, the token being in the query. */
export async function withTokenInQuery(subject: Subject): Promise<Answer> {
  const url = new URL(subject.url);
  url.searchParams.set('access_token', madeUpToken);
  return ask(subject, url.href, initializeRequest());
}
