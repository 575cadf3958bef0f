import type { Judgement } from '../finding.ts';
import type { Subject } from '../subject.ts';
import { isTokenTaken } from '../token/token-use.ts';
import { spareSession } from './second-session.ts';
import { redeemCode, refreshSession, type Session } from './session.ts';
import type { TokenAnswer } from './token-answer.ts';

/** What became of a code that was redeemed twice. */
export type CodeReuse =
  | {
      kind: 'tried';
      /** The second redemption. */
      again: TokenAnswer;
      /**
       * Whether the tokens of the first redemption worked just before, and whether they did after; undefined where the
       * access token alone did, and a refresh token that may have been used before did not.
       */
      aliveBefore: boolean;
      aliveAfter: boolean | undefined;
      /** Whether the login could still be refreshed after; absent where that was not tried. */
      isRefreshable?: boolean;
    }
  | { kind: 'untried'; judgement: Judgement };

async function hasLiveToken(subject: Subject, session: Session): Promise<boolean> {
  if (session.held.refreshToken !== undefined) await refreshSession(subject, session);
  return (await isTokenTaken(subject, session.held.accessToken)) === true;
}

/**
 * Probe: redeems the code of a session a second time. This ends the session at a server that sees it.
 * @param subject the server under examination
 * @see RFC 6749 section 4.1.2
 */
export async function codeReuse(subject: Subject): Promise<CodeReuse> {
  const session = await subject.fact(spareSession);
  if (session.kind === 'missing') return { kind: 'untried', judgement: session.judgement };
  const aliveBefore = await hasLiveToken(subject, session);
  const again = await redeemCode(subject, session, session.code);
  const aliveAfter = await isTokenTaken(subject, session.held.accessToken);
  const { held, spentRefreshToken } = session;
  const refreshToken = held.refreshToken ?? spentRefreshToken;
  if (aliveAfter !== true || refreshToken === undefined)
    return { kind: 'tried', again, aliveBefore, aliveAfter };
  const refreshed = await refreshSession(subject, session, { refresh_token: refreshToken });
  if (refreshed.tokens === undefined && held.refreshToken === undefined)
    return { kind: 'tried', again, aliveBefore, aliveAfter: undefined };
  return { kind: 'tried', again, aliveBefore, aliveAfter, isRefreshable: refreshed.tokens !== undefined };
}
