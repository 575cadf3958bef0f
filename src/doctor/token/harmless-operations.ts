import type { Client } from '@modelcontextprotocol/client';
import { withMcpConnection } from '../../client/index.ts';
import { parseChallenges } from '../../oauth/challenge.ts';
import { parseScope } from '../../oauth/scope.ts';
import { firstSession, type Session } from '../login/session.ts';
import type { Subject } from '../subject.ts';
import { doctorInfo, fetchWith, type Refusal } from './access-check.ts';

/** An operation that was rejected because of its token. */
export interface RefusedOperation {
  /** Description of the operation. */
  operation: string;
  run(client: Client): Promise<unknown>;
  refusal: Refusal;
  /** Scopes of the token. */
  held: readonly string[];
}

/** Maximum number of called tools. */
const maxCalls = 5;

interface Operation {
  named: string;
  run(client: Client): Promise<unknown>;
}

/** Returns calls of the tools that declare to be read-only, without arguments. */
async function harmlessCalls(client: Client): Promise<Operation[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const { tools } = await client.listTools();
  return tools
    .filter(({ annotations }) => annotations?.readOnlyHint === true)
    .slice(0, maxCalls)
    .map(({ name }) => ({
      named: `tools/call ${name}`,
      run: (one) => one.callTool({ name, arguments: {} }),
    }));
}

/**
 * Does some work over its own connection.
 * @param session source of the token
 * @param work gets the rejections so far
 * @returns each 401 and 403
 */
export async function refusalsOf(
  subject: Subject,
  session: Session,
  work: (client: Client, refusals: readonly Refusal[]) => Promise<unknown>,
): Promise<Refusal[]> {
  const refusals: Refusal[] = [];
  const { url, context } = subject;
  const fetch = fetchWith(subject, session.held.accessToken, (refusal) => refusals.push(refusal));
  const options = { url, fetch, clientInfo: doctorInfo, timeoutMs: context.timeoutMs };
  await withMcpConnection(options, (client) => work(client, refusals)).catch(() => undefined);
  return refusals;
}

/** Returns the known scopes of a session's token. */
export function scopesOf({ held, pending }: Session): readonly string[] {
  return held.scope === undefined ? pending.scopes : parseScope(held.scope);
}

/**
 * Returns the parameters of a challenge.
 * @param challenge `WWW-Authenticate`, or null
 */
export function challengeParameters(challenge: string | null): Record<string, string> {
  const found = parseChallenges(challenge ?? '').find(
    ({ scheme }) => scheme === 'bearer' || scheme === 'dpop',
  );
  return found?.parameters ?? {};
}

/**
 * Connects, lists the tools and calls the read-only ones, until a request is rejected.
 * @param session source of the token
 */
export async function findRefusal(subject: Subject, session: Session): Promise<RefusedOperation | undefined> {
  let tried: Operation = { named: 'connecting', run: async () => undefined };
  const [refusal] = await refusalsOf(subject, session, async (client, seen) => {
    tried = { named: 'tools/list', run: (one) => one.listTools() };
    for (const operation of await harmlessCalls(client)) {
      tried = operation;
      await operation.run(client).catch(() => undefined);
      if (seen.length > 0) return;
    }
  });
  if (refusal === undefined) return undefined;
  return { operation: tried.named, run: tried.run, refusal, held: scopesOf(session) };
}

/**
 * Fact: the first operation that is rejected with the token of the first login, although that requested the named
 * scopes.
 */
export async function firstRefusal(subject: Subject): Promise<RefusedOperation | undefined> {
  const session = await subject.fact(firstSession);
  return session.kind === 'open' ? findRefusal(subject, session) : undefined;
}
