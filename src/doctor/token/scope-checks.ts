import { quote } from '../../client/quote.ts';
import { missingScopes, parseScope } from '../../oauth/scope.ts';
import type { Check } from '../check.ts';
import { fail, pass, skip, warn } from '../judgements.ts';
import { consentPatienceMs } from '../login/consent.ts';
import { challengeParameters } from './harmless-operations.ts';
import { scopeRefusal, stepUp } from './scope-refusal.ts';

const ofScopes = {
  section: 'token',
  active: true,
  needs: ['LOGIN-REQUEST', 'LOGIN-STATE', 'LOGIN-ISS', 'LOGIN-CODE', 'TOKEN-ACCEPTED'],
  patienceMs: 2 * consentPatienceMs,
} as const;

/** Data that a client needs to request more scopes. */
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

/** Asking for what was named has to help. */
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
