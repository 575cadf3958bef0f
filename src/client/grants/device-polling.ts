import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import type { TokenAnswer } from '../tokens/token-request.ts';
import { grantRefused } from './grant-login.ts';

/** How much longer a client waits after `slow_down`, in seconds (RFC 8628 section 3.5). */
const slowDownSeconds = 5;

/** The pace and end of a run of polls. */
export interface DevicePolling {
  /** What the server asked for, in seconds. */
  intervalSeconds: number;
  /** When the code ends, epoch seconds. */
  expiresAt: number;
  /** Waits that many seconds; rejects where the caller gives up. */
  wait: (seconds: number) => Promise<void>;
}

/** Failures after which the server may answer the next poll. */
function isPassing(error: unknown): boolean {
  return error instanceof ClientError && (error.reason === 'timed_out' || error.reason === 'unreachable');
}

const expired = (): ClientError =>
  new ClientError('login_timed_out', 'The code was not entered in time. Log in again for a new one.');

/**
 * Asks a token endpoint whether the user has entered the code, at the server's pace, until there is an answer. A server
 * that cannot be reached is asked at half the pace each time.
 * @param context its clock
 * @param poll asks once
 * @param polling pace and end
 * @throws ClientError `authorization_denied`, `login_timed_out`, and those of `grantRefused`; what `wait` rejects with
 * @see RFC 8628 sections 3.4 and 3.5
 */
export async function pollForTokens(
  context: ClientContext,
  poll: () => Promise<TokenAnswer>,
  polling: DevicePolling,
): Promise<Extract<TokenAnswer, { kind: 'issued' }>['tokens']> {
  let interval = polling.intervalSeconds;
  for (;;) {
    if (context.now() + interval > polling.expiresAt) throw expired();
    await polling.wait(interval);
    const answer = await poll().catch((error: unknown) => {
      if (!isPassing(error)) throw error;
      interval *= 2;
      return undefined;
    });
    if (answer === undefined) continue;
    if (answer.kind === 'issued') return answer.tokens;
    const { error } = answer.refusal;
    if (error === 'slow_down') interval += slowDownSeconds;
    else if (error === 'expired_token') throw expired();
    else if (error === 'access_denied')
      throw new ClientError('authorization_denied', 'The login was declined on the other device.', {
        oauthError: error,
      });
    else if (error !== 'authorization_pending') throw grantRefused(answer.refusal);
  }
}
