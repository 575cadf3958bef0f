import { type Check, fail, type Judgement, pass, unknown, warn } from '../check.ts';
import type { Subject } from '../subject.ts';
import { isTokenTaken } from '../token/token-at-hand.ts';
import { consentPatienceMs } from './consent.ts';
import { secondLogin, spareSession } from './second-session.ts';
import {
  describeTokenAnswer,
  redeemCode,
  refreshSession,
  type Session,
  type TokenAnswer,
} from './session.ts';

const ofCodes = {
  section: 'login',
  active: true,
  needs: ['LOGIN-REQUEST', 'LOGIN-STATE', 'LOGIN-ISS', 'LOGIN-CODE'],
  patienceMs: 2 * consentPatienceMs,
} as const;

/** Judges a rejection: by the right error, by another one, or by a response that is no OAuth error. */
function judgeRefusal(error: string | undefined, saw: string): Judgement {
  if (error === 'invalid_grant') return pass(saw);
  if (error === undefined) return unknown(saw, { because: 'LOGIN-TOKEN-ERROR' });
  return warn(saw, 'Answer with status 400 and {"error":"invalid_grant"}.');
}

/** Checks that the code verifier is compared; otherwise PKCE has no effect. */
export const verifierCheck: Check = {
  ...ofCodes,
  id: 'LOGIN-VERIFIER',
  title: 'A code is not exchanged with a wrong code_verifier',
  clause: 'RFC 7636 section 4.6',
  async judge(subject) {
    const second = await subject.fact(secondLogin);
    if (second.kind === 'missing') return second.judgement;
    const { wrongVerifier } = second;
    const { answer, tokens, error } = wrongVerifier;
    const { evidence } = answer;
    const saw = `A code with another code_verifier ${describeTokenAnswer(wrongVerifier)}.`;
    if (answer.kind === 'unanswered') return unknown(saw, { evidence });
    if (tokens !== undefined)
      return fail(
        saw,
        'Keep code_challenge with the code, and compare it with the SHA-256 of code_verifier in base64url. As it is, whoever steals a code can use it.',
        { evidence },
      );
    return { ...judgeRefusal(error, saw), evidence };
  },
};

/** Checks that a code works only with its redirect URI. */
export const codeRedirectCheck: Check = {
  ...ofCodes,
  needs: [...ofCodes.needs, 'LOGIN-VERIFIER'],
  id: 'LOGIN-CODE-REDIRECT',
  title: 'A code is not exchanged with another redirect_uri than it was sent to',
  clause: 'RFC 6749 section 4.1.3',
  async judge(subject) {
    const second = await subject.fact(secondLogin);
    if (second.kind === 'missing') return second.judgement;
    const { wrongRedirect, session } = second;
    if (wrongRedirect === undefined)
      return unknown('The code was gone by then.', { because: 'LOGIN-VERIFIER' });
    const { answer, tokens } = wrongRedirect;
    const { evidence } = answer;
    const saw = `A code with another redirect_uri ${describeTokenAnswer(wrongRedirect)}.`;
    if (tokens !== undefined)
      return warn(
        saw,
        'Compare redirect_uri with that of the authorization request wherever a client sends one.',
        { evidence },
      );
    if (answer.kind === 'unanswered') return unknown(saw, { evidence });
    if (session.kind === 'open') return pass(`${saw} With the right one it was exchanged.`, { evidence });
    return unknown(
      `${saw} So was the right one after it: the server drops a code at the first wrong redemption, and what it compared cannot be told.`,
      { evidence },
    );
  },
};

/** Checks that a code works only once. */
export const codeOnceCheck: Check = {
  ...ofCodes,
  id: 'LOGIN-CODE-ONCE',
  title: 'A code is exchanged once',
  clause: 'RFC 6749 section 4.1.2',
  async judge(subject) {
    const probe = await subject.fact(codeReuse);
    if (probe.kind === 'untried') return probe.judgement;
    const { again } = probe;
    const { answer, tokens, error } = again;
    const { evidence } = answer;
    const saw = `The second redemption of a code ${describeTokenAnswer(again)}.`;
    if (answer.kind === 'unanswered') return unknown(saw, { evidence });
    if (tokens !== undefined)
      return fail(
        saw,
        'Mark a code as used in the same step that issues its tokens, and refuse it from then on.',
        { evidence },
      );
    return { ...judgeRefusal(error, saw), evidence };
  },
};

/** Checks that the tokens of a code are revoked when the code is used twice, because it may be stolen. */
export const codeRevokesCheck: Check = {
  ...ofCodes,
  needs: [...ofCodes.needs, 'LOGIN-CODE-ONCE'],
  id: 'LOGIN-CODE-REVOKES',
  title: 'The second use of a code ends the tokens of the first',
  clause: 'RFC 6749 section 4.1.2',
  async judge(subject) {
    const probe = await subject.fact(codeReuse);
    if (probe.kind === 'untried') return probe.judgement;
    const { aliveBefore, aliveAfter, isRefreshable } = probe;
    if (!aliveBefore)
      return unknown(
        'The tokens of the first redemption had ended before the code came again, by what a check before this one did (TOKEN-REVOKED, LOGIN-REUSE or TOKEN-OTHER-AUDIENCE). With --only LOGIN-CODE-REVOKES it can be told.',
      );
    if (aliveAfter === undefined)
      return unknown(
        'Whether the login ended with that cannot be told: no answer came, or its refresh token had not worked before either, while its access token is accepted until it ends.',
      );
    if (!aliveAfter)
      return pass('The access token of the first redemption was accepted before and refused after.');
    if (isRefreshable === false)
      return pass(
        'The refresh token of the first redemption was refused after that; its access token is accepted until it ends (see TOKEN-REVOKED).',
      );
    return warn(
      'The access token of the first redemption was still accepted after the code had come a second time.',
      'Revoke what was issued for a code when the code comes again: one of the two who had it is a thief.',
    );
  },
};

/** Result of redeeming a code twice. */
type CodeReuse =
  | {
      kind: 'tried';
      /** The second redemption. */
      again: TokenAnswer;
      /**
       * True if the access token worked just before, and after. Undefined if only the access token worked, and the
       * refresh token was not seen to work just before.
       */
      aliveBefore: boolean;
      aliveAfter: boolean | undefined;
      /** True if the login could still be refreshed after; absent if that was not tried. */
      isRefreshable?: boolean;
    }
  | { kind: 'untried'; judgement: Judgement };

/** The working parts of a session. */
interface Liveness {
  /** True if the access token is accepted. */
  isAlive: boolean;
  /** True if it was just refreshed. */
  isRenewed: boolean;
}

/**
 * Renews a session and checks whether it is alive. A refresh token that may count as used is tried only if the access
 * token is dead and there is nothing to lose.
 */
async function look(subject: Subject, session: Session): Promise<Liveness> {
  const renew = async (refreshToken: string): Promise<boolean> =>
    (await refreshSession(subject, session, { refresh_token: refreshToken })).tokens !== undefined;
  const isTaken = async (): Promise<boolean> =>
    (await isTokenTaken(subject, session.held.accessToken)) === true;
  const { held, spentRefreshToken: spent } = session;
  const isRenewed = held.refreshToken !== undefined && (await renew(held.refreshToken));
  if (await isTaken()) return { isAlive: true, isRenewed };
  if (spent === undefined || !(await renew(spent))) return { isAlive: false, isRenewed };
  return { isAlive: await isTaken(), isRenewed: true };
}

/**
 * Fact: the second redemption of the code of a session. This ends the session at a server that detects it.
 * @see RFC 6749 section 4.1.2
 */
export async function codeReuse(subject: Subject): Promise<CodeReuse> {
  const session = await subject.fact(spareSession);
  if (session.kind === 'missing') return { kind: 'untried', judgement: session.judgement };
  const { isAlive: aliveBefore, isRenewed } = await look(subject, session);
  const again = await redeemCode(subject, session, session.code);
  const aliveAfter = await isTokenTaken(subject, session.held.accessToken);
  const { held, spentRefreshToken } = session;
  const refreshToken = held.refreshToken ?? spentRefreshToken;
  if (aliveAfter !== true || refreshToken === undefined)
    return { kind: 'tried', again, aliveBefore, aliveAfter };
  const refreshed = await refreshSession(subject, session, { refresh_token: refreshToken });
  const isRefreshable = refreshed.tokens !== undefined;
  if (!isRefreshable && !isRenewed) return { kind: 'tried', again, aliveBefore, aliveAfter: undefined };
  return { kind: 'tried', again, aliveBefore, aliveAfter, isRefreshable };
}
