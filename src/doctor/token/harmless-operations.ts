import type { Client } from '@modelcontextprotocol/client';
import { withMcpConnection } from '../../client/index.ts';
import { parseChallenges } from '../../oauth/challenge.ts';
import { parseScope } from '../../oauth/scope.ts';
import { firstSession, type Session } from '../login/session.ts';
import type { Subject } from '../subject.ts';
import { doctorInfo, fetchWith, type Refusal } from './access-check.ts';

/** An operation that was refused for its token. */
export interface RefusedOperation {
  /** The operation in words. */
  operation: string;
  run(client: Client): Promise<unknown>;
  refusal: Refusal;
  /** Scopes of the token. */
  held: readonly string[];
}

/** Most tools that are called. */
const maxCalls = 5;

interface Operation {
  named: string;
  run(client: Client): Promise<unknown>;
}

/** Tools that say of themselves that they only read; they are called without arguments. */
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
 * Does something over a connection of its own.
 * @param subject the server under examination
 * @param session whose token to use
 * @param work what to do; it is given the refusals so far
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

/**
 * The scopes of a session's token, as far as the server told.
 * @param session the login
 */
export function scopesOf({ held, pending }: Session): readonly string[] {
  return held.scope === undefined ? pending.scopes : parseScope(held.scope);
}

/**
 * The parameters of the challenge of a refusal.
 * @param challenge `WWW-Authenticate`; null if there is none
 */
export function challengeParameters(challenge: string | null): Record<string, string> {
  const found = parseChallenges(challenge ?? '').find(
    ({ scheme }) => scheme === 'bearer' || scheme === 'dpop',
  );
  return found?.parameters ?? {};
}

/**
 * Connects, lists the tools and calls those that only read, until something is refused.
 * @param subject the server under examination
 * @param session whose token to use
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
 * Probe: what the token of the first login is refused, although a login asks for what the server names.
 * @param subject the server under examination
 */
export async function firstRefusal(subject: Subject): Promise<RefusedOperation | undefined> {
  const session = await subject.fact(firstSession);
  return session.kind === 'open' ? findRefusal(subject, session) : undefined;
}
