import type { Judgement } from '../finding.ts';
import type { Subject } from '../subject.ts';
import { isTokenTaken } from '../token/token-use.ts';
import { spareSession } from './second-session.ts';
import { redeemCode, refreshSession, type Session } from './session.ts';
import type { TokenAnswer } from './token-answer.ts';

/** Result of redeeming a code twice. */
export type CodeReuse =
  | {
      kind: 'tried';
      /** The second redemption. */
      again: TokenAnswer;
      /**
       * True if the tokens of the first redemption worked just before, and whether they did after; undefined if the
       * access token alone did, and the refresh token had not been seen to work just before.
       */
      aliveBefore: boolean;
      aliveAfter: boolean | undefined;
      /** True if the login could still be refreshed after; absent if that was not tried. */
      isRefreshable?: boolean;
    }
  | { kind: 'untried'; judgement: Judgement };

/** The parts of a session that work. */
interface Liveness {
  /** True if its access token is taken. */
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
 * Probe: redeems the code of a session a second time. This ends the session at a server that sees it.
 * @param subject the server under examination
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
