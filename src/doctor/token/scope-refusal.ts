import type { Client } from '@modelcontextprotocol/client';
import { chooseScopes, withMcpConnection } from '../../client/index.ts';
import { missingScopes, parseScope } from '../../oauth/scope.ts';
import type { Judgement } from '../finding.ts';
import { secondLogin } from '../login/second-session.ts';
import { firstSession, type Session } from '../login/session.ts';
import type { Subject } from '../subject.ts';
import { doctorInfo, fetchWith, type Refusal } from './access-check.ts';

/** An operation that a token with fewer scopes was refused. */
export interface ScopeRefusal {
  /** The operation in words. */
  operation: string;
  run(client: Client): Promise<unknown>;
  refusal: Refusal;
  /** Scopes of the token. */
  held: readonly string[];
}

/** The refusal, or why there is none to judge. */
export type ScopeRefusalProbe = ({ kind: 'refused' } & ScopeRefusal) | { kind: 'none'; judgement: Judgement };

/** Most tools that are called. */
const maxCalls = 5;

interface Operation {
  named: string;
  run(client: Client): Promise<unknown>;
}

/** Calls without effect: listing, and tools that say of themselves that they only read. */
async function harmlessOperations(client: Client): Promise<Operation[]> {
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
 * Does one thing over a connection of its own.
 * @param subject the server under examination
 * @param session whose token to use
 * @param work what to do
 * @returns the refusals met
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
 * Probe: tries what harms nobody with a token that has fewer scopes than a login asks for, until something is refused.
 * @param subject the server under examination
 */
export async function scopeRefusal(subject: Subject): Promise<ScopeRefusalProbe> {
  const none = (saw: string): ScopeRefusalProbe => ({ kind: 'none', judgement: { verdict: 'skip', saw } });
  const second = await subject.fact(secondLogin);
  if (second.kind === 'missing') return { kind: 'none', judgement: second.judgement };
  const { session } = second;
  if (session.kind === 'missing') return { kind: 'none', judgement: session.judgement };
  const all = chooseScopes(session.found);
  if (session.pending.scopes.length >= all.length)
    return none(
      `The server names ${all.length === 0 ? 'no scopes' : 'one scope only'}, so no token with fewer can be had.`,
    );
  const held = session.held.scope === undefined ? session.pending.scopes : parseScope(session.held.scope);
  if (missingScopes(held, all).length === 0)
    return none(
      `A login for ${session.pending.scopes.join(' ')} got ${held.join(' ')}: no token with fewer scopes can be had.`,
    );
  let tried: Operation = { named: 'connecting', run: async () => undefined };
  const refusals = await refusalsOf(subject, session, async (client, seen) => {
    tried = { named: 'tools/list', run: (one) => one.listTools() };
    for (const operation of await harmlessOperations(client)) {
      tried = operation;
      await operation.run(client).catch(() => undefined);
      if (seen.length > 0) return;
    }
  });
  const [refusal] = refusals;
  if (refusal === undefined)
    return none(`A token for ${held.join(' ')} was refused nothing that is safe to try.`);
  return { kind: 'refused', operation: tried.named, run: tried.run, refusal, held };
}

/** How the step-up ended. */
export type StepUpProbe =
  | { kind: 'tried'; scopes: readonly string[]; again?: Refusal; operation: string }
  | { kind: 'untried'; judgement: Judgement };

/**
 * Probe: tries the refused operation with the token of the first login, which has all scopes: what a client would do
 * after it asked for the union, without a third consent.
 * @param subject the server under examination
 */
export async function stepUp(subject: Subject): Promise<StepUpProbe> {
  const refused = await subject.fact(scopeRefusal);
  if (refused.kind === 'none') return { kind: 'untried', judgement: refused.judgement };
  const first = await subject.fact(firstSession);
  if (first.kind === 'missing') return { kind: 'untried', judgement: first.judgement };
  const scopes = first.held.scope === undefined ? first.pending.scopes : parseScope(first.held.scope);
  const [again] = await refusalsOf(subject, first, (client) => refused.run(client));
  return { kind: 'tried', scopes, operation: refused.operation, ...(again === undefined ? {} : { again }) };
}
