import { chooseScopes, type DiscoveredServer } from '../../client/index.ts';
import { parseScope, scopeUnion } from '../../oauth/scope.ts';
import { type Judgement, unknown } from '../check.ts';
import type { Subject } from '../subject.ts';
import { challengeParameters, firstRefusal } from '../token/harmless-operations.ts';
import { type Consent, type ConsentProbe, obtainConsent } from './consent.ts';
import {
  firstSession,
  openSession,
  readCode,
  redeemCode,
  type SessionProbe,
  type TokenAnswer,
} from './session.ts';

/** Use of the second consent: its code was redeemed wrongly first, then rightly. */
interface SecondLogin extends Consent {
  code: string;
  /** With another `code_verifier`. */
  wrongVerifier: TokenAnswer;
  /** With another `redirect_uri`; absent if the code was used by then. */
  wrongRedirect?: TokenAnswer;
  session: SessionProbe;
}

/** The second login, or the reason why there is none. */
type SecondLoginProbe = ({ kind: 'tried' } & SecondLogin) | { kind: 'missing'; judgement: Judgement };

/** A redirect URI of no other request. */
const elsewhere = 'http://127.0.0.1:9/elsewhere';

const lost: Judgement = unknown(
  'The code of the second login was lost at its first wrong redemption, so there is no second token.',
);

/**
 * Returns the scopes of the second login: after a rejection all known ones, as for a step-up; otherwise the first of
 * several, to test a token with too few.
 */
async function secondScopes(
  subject: Subject,
  found: DiscoveredServer,
): Promise<readonly string[] | undefined> {
  const refused = await subject.fact(firstRefusal);
  const named = parseScope(challengeParameters(refused?.refusal.challenge ?? null).scope);
  if (refused !== undefined && named.length > 0) return scopeUnion(refused.held, named);
  const all = chooseScopes(found).filter((scope) => scope !== 'offline_access');
  return all.length > 1 ? all.slice(0, 1) : undefined;
}

/** Fact: the second consent. It is requested only if the first login was completed. */
async function secondConsent(subject: Subject): Promise<ConsentProbe> {
  const first = await subject.fact(firstSession);
  if (first.kind === 'missing') return first;
  return obtainConsent(subject, 'second', await secondScopes(subject, first.found));
}

/** Fact: a second login whose code and tokens may be spent. */
export async function secondLogin(subject: Subject): Promise<SecondLoginProbe> {
  const consent = await subject.fact(secondConsent);
  if (consent.kind === 'missing') return consent;
  const read = readCode(consent);
  if ('judgement' in read) return { kind: 'missing', judgement: read.judgement };
  const { code } = read;
  const other = consent.pending.codeVerifier.split('').reverse().join('');
  const wrongVerifier = await redeemCode(subject, consent, code, { code_verifier: other });
  if (wrongVerifier.tokens !== undefined)
    return {
      ...consent,
      kind: 'tried',
      code,
      wrongVerifier,
      session: openSession(subject, consent, code, wrongVerifier),
    };
  const wrongRedirect = await redeemCode(subject, consent, code, { redirect_uri: elsewhere });
  const redemption =
    wrongRedirect.tokens === undefined ? await redeemCode(subject, consent, code) : wrongRedirect;
  const opened = openSession(subject, consent, code, redemption);
  const session: SessionProbe = opened.kind === 'open' ? opened : { kind: 'missing', judgement: lost };
  return { ...consent, kind: 'tried', code, wrongVerifier, wrongRedirect, session };
}

/**
 * Fact: a session whose tokens may be spent: the second, or the first if the second's code was lost to a wrong
 * redemption.
 */
export async function spareSession(subject: Subject): Promise<SessionProbe> {
  const second = await subject.fact(secondLogin);
  if (second.kind === 'missing') return second;
  return second.session.kind === 'open' ? second.session : subject.fact(firstSession);
}
