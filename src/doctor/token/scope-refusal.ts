import { chooseScopes } from '../../client/index.ts';
import { missingScopes } from '../../oauth/scope.ts';
import type { Judgement } from '../finding.ts';
import { skip } from '../judgements.ts';
import { secondLogin } from '../login/second-session.ts';
import { firstSession } from '../login/session.ts';
import type { Subject } from '../subject.ts';
import type { Refusal } from './access-check.ts';
import {
  findRefusal,
  firstRefusal,
  type RefusedOperation,
  refusalsOf,
  scopesOf,
} from './harmless-operations.ts';

/** A refusal for want of scopes, or why there is none to judge. */
export type ScopeRefusalProbe =
  | ({ kind: 'refused'; by: 'first' | 'second' } & RefusedOperation)
  | { kind: 'none'; judgement: Judgement };

/**
 * Probe: an operation that a token with too few scopes was refused: that of the first login, else that of the second,
 * which asks for fewer.
 * @param subject the server under examination
 */
export async function scopeRefusal(subject: Subject): Promise<ScopeRefusalProbe> {
  const none = (saw: string): ScopeRefusalProbe => ({ kind: 'none', judgement: skip(saw) });
  const refused = await subject.fact(firstRefusal);
  if (refused !== undefined) return { kind: 'refused', by: 'first', ...refused };
  const second = await subject.fact(secondLogin);
  if (second.kind === 'missing') return { kind: 'none', judgement: second.judgement };
  const { session } = second;
  if (session.kind === 'missing') return { kind: 'none', judgement: session.judgement };
  const all = chooseScopes(session.found);
  const held = scopesOf(session);
  if (missingScopes(held, all).length === 0)
    return none(
      `The token of a login was refused nothing that is safe to try, and ${all.length === 0 ? 'the server names no scopes to leave out' : `one with fewer scopes than ${all.join(' ')} could not be had`}.`,
    );
  const found = await findRefusal(subject, session);
  return found === undefined
    ? none(`A token for ${held.join(' ')} was refused nothing that is safe to try.`)
    : { kind: 'refused', by: 'second', ...found };
}

/** Result of the step-up. */
export type StepUpProbe =
  | { kind: 'tried'; scopes: readonly string[]; again?: Refusal; operation: string }
  | { kind: 'untried'; judgement: Judgement };

/**
 * Probe: tries the refused operation with the token of the other login. If the first was refused, the second asked for
 * the union of the held and the named scopes; if the second was refused, the first has that already.
 * @param subject the server under examination
 * @see MCP authorization "Step-Up Authorization Flow" (A8-07)
 */
export async function stepUp(subject: Subject): Promise<StepUpProbe> {
  const refused = await subject.fact(scopeRefusal);
  if (refused.kind === 'none') return { kind: 'untried', judgement: refused.judgement };
  const second = await subject.fact(secondLogin);
  if (second.kind === 'missing') return { kind: 'untried', judgement: second.judgement };
  const session = refused.by === 'first' ? second.session : await subject.fact(firstSession);
  if (session.kind === 'missing') return { kind: 'untried', judgement: session.judgement };
  const [again] = await refusalsOf(subject, session, (client) => refused.run(client));
  const { operation } = refused;
  return { kind: 'tried', scopes: scopesOf(session), operation, ...(again === undefined ? {} : { again }) };
}
