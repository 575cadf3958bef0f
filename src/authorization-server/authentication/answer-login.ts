import type { Context } from 'koa';
import type { Account } from '../../storage/accounts.ts';
import type { AuditLog } from '../audit.ts';
import { currentWriteSet } from '../engine/write-set.ts';
import { textsFor } from '../texts/page-texts.ts';
import type { Texts } from '../texts/texts.ts';
import type { LoginFault, LoginOutcome } from './authentication.ts';
import type { KnownDevices } from './known-device.ts';

/** Place of a login: in an authorization request, or on the account pages. */
export interface LoginPlace {
  audit: AuditLog;
  devices: KnownDevices;
  clientId?: string;
  /** Continues after a successful login. */
  accept(account: Account, amr: string[]): Promise<void>;
  /** Shows the login page again. */
  showLogin(problem: string): Promise<void>;
  /** Asks for the one-time code. */
  showCode(pending: string, problem?: string): void;
}

function faultWords(texts: Texts, fault: LoginFault): string {
  switch (fault) {
    case 'password':
      return texts.login.refused;
    case 'code':
      return texts.account.code.refused;
    case 'passkey':
      return texts.account.passkeys.refused;
    case 'expired':
      return texts.account.code.expired;
  }
}

/** An outcome after which one has to wait. */
type Waiting = Extract<LoginOutcome, { retryAfterSeconds: number }>;

/**
 * Responds to a step of a login. A successful login counts only if, at its commit, the account still has the same
 * password and is not disabled (T-166, T-027).
 */
export async function answerLogin(ctx: Context, result: LoginOutcome, place: LoginPlace): Promise<void> {
  const { audit, devices, clientId } = place;
  const texts = textsFor(ctx);
  const again = (pending: string | undefined, problem: string): Promise<void> | void =>
    pending === undefined ? place.showLogin(problem) : place.showCode(pending, problem);
  const wait = ({ outcome, retryAfterSeconds }: Waiting, status: 429 | 503): void => {
    audit('login.throttled', ctx, { clientId, reason: outcome });
    ctx.status = status;
    ctx.set('Retry-After', String(retryAfterSeconds));
  };

  switch (result.outcome) {
    case 'accepted': {
      const { account, amr } = result;
      audit('login.succeeded', ctx, { accountId: account.id, clientId, amr: amr.join(' ') });
      currentWriteSet()?.add({
        type: 'requirePassword',
        accountId: account.id,
        passwordHash: account.passwordHash,
      });
      devices.remember(ctx, account.email);
      return place.accept(account, amr);
    }
    case 'code_needed':
      return place.showCode(result.pending);
    case 'refused':
      audit('login.failed', ctx, { accountId: result.accountId, clientId, reason: result.fault });
      ctx.status = 401;
      return again(result.pending, faultWords(texts, result.fault));
    case 'throttled': {
      wait(result, 429);
      const words = result.byBrowser ? texts.login.throttledHere : texts.login.throttled;
      return again(result.pending, words(result.retryAfterSeconds));
    }
    case 'busy':
      wait(result, 503);
      return place.showLogin(texts.login.busy);
  }
}
