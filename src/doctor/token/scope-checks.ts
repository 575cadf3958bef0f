import { chooseScopes } from '../../client/index.ts';
import { quote } from '../../client/quote.ts';
import { missingScopes, parseScope } from '../../oauth/scope.ts';
import { type Check, fail, type Judgement, pass, skip, warn } from '../check.ts';
import { consentPatienceMs } from '../login/consent.ts';
import { secondLogin } from '../login/second-session.ts';
import { firstSession } from '../login/session.ts';
import type { Subject } from '../subject.ts';
import type { Refusal } from './access-check.ts';
import {
  challengeParameters,
  findRefusal,
  firstRefusal,
  type RefusedOperation,
  refusalsOf,
  scopesOf,
} from './harmless-operations.ts';

const ofScopes = {
  section: 'token',
  active: true,
  needs: ['LOGIN-REQUEST', 'LOGIN-STATE', 'LOGIN-ISS', 'LOGIN-CODE', 'TOKEN-ACCEPTED'],
  patienceMs: 2 * consentPatienceMs,
} as const;

/** Checks that a client learns which scopes it needs. */
export const scopeChallengeCheck: Check = {
  ...ofScopes,
  id: 'TOKEN-SCOPE-CHALLENGE',
  title: 'A token with too few scopes gets 403, and is told which it needs',
  clause: 'RFC 6750 section 3.1; MCP authorization "Runtime Insufficient Scope Errors"',
  async judge(subject) {
    const probe = await subject.fact(scopeRefusal);
    if (probe.kind === 'none') return probe.judgement;
    const { operation, refusal, held } = probe;
    const { status, challenge } = refusal;
    const evidence = [refusal.exchange];
    const { error, scope, resource_metadata: metadata } = challengeParameters(challenge);
    const saw = `With a token for ${quote(held.join(' '))}, ${operation} was answered with ${status} and WWW-Authenticate ${challenge === null ? 'missing' : quote(challenge)}.`;
    const fix =
      'Answer with 403 and WWW-Authenticate: Bearer error="insufficient_scope", scope="<all scopes the operation needs>", resource_metadata="<URL>".';
    if (status !== 403)
      return fail(`${saw} Clients take a ${status} for an ended login, and renew it in vain.`, fix, {
        evidence,
      });
    if (error !== 'insufficient_scope' || scope === undefined)
      return fail(`${saw} No client can tell what to ask for.`, fix, { evidence });
    if (metadata === undefined) return warn(`${saw} It has no resource_metadata.`, fix, { evidence });
    return pass(saw, { evidence });
  },
};

/** Checks that the requested scopes help. */
export const stepUpCheck: Check = {
  ...ofScopes,
  needs: [...ofScopes.needs, 'TOKEN-SCOPE-CHALLENGE'],
  id: 'TOKEN-STEP-UP',
  title: 'With the scopes that were named, the refused operation is allowed',
  clause: 'MCP authorization "Step-Up Authorization Flow"',
  async judge(subject) {
    const probe = await subject.fact(stepUp);
    if (probe.kind === 'untried') return probe.judgement;
    const { again, operation, scopes } = probe;
    if (again === undefined)
      return pass(`With a token for ${quote(scopes.join(' '))}, ${operation} was not refused.`);
    const wanted = parseScope(challengeParameters(again.challenge).scope);
    const missing = missingScopes(scopes, wanted);
    const evidence = [again.exchange];
    if (missing.length > 0)
      return skip(`${operation} needs ${missing.join(' ')} as well, which the login was not granted.`, {
        evidence,
      });
    return fail(
      `With a token for ${quote(scopes.join(' '))}, ${operation} was refused again with ${again.status}, and names ${wanted.length === 0 ? 'no scopes' : 'only scopes that the token has'}: a client would ask for ever.`,
      'Name every scope that the operation needs, and read the scopes of the token from its scope claim or from introspection.',
      { evidence },
    );
  },
};

/** A rejection because of missing scopes, or the reason why there is none. */
type ScopeRefusalProbe =
  | ({ kind: 'refused'; by: 'first' | 'second' } & RefusedOperation)
  | { kind: 'none'; judgement: Judgement };

/**
 * Fact: an operation that was rejected because of missing scopes: with the token of the first login, or of the second,
 * which requests fewer.
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
type StepUpProbe =
  | { kind: 'tried'; scopes: readonly string[]; again?: Refusal; operation: string }
  | { kind: 'untried'; judgement: Judgement };

/**
 * Fact: the result of the rejected operation with the token of the other login. If the first was rejected, the second
 * requested the union of its scopes and the named ones; if the second was rejected, the first has them already.
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
