import { type PasswordHasher, PasswordQueueFull } from '../../crypto/password.ts';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret } from '../../crypto/secret.ts';
import { type AccountStore, passwordResetKind } from '../../storage/accounts.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import type { AuditLog } from '../audit.ts';
import { tellPerson } from '../endpoint-limits/answers.ts';
import { showPage } from '../interactions/page.ts';
import type { Limiter } from '../limits.ts';
import { type ResetEnd, renderPasswordReset, renderResetEnd } from '../views/account/password.ts';
import { type AccountRequest, goToPage } from './account-request.ts';
import { readNewPassword } from './new-password.ts';
import { dropResetKey, findResetKey, keepResetKey } from './reset-key.ts';

/** What a reset of a password works with. */
export interface ResetPageOptions {
  accounts: AccountStore;
  artifacts: ArtifactStore;
  box: SealedBox;
  hasher: PasswordHasher;
  /** Links of an address that do not work. */
  wrongLinks: Limiter;
  audit: AuditLog;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Answers a link that does not work, which counts for the address it came from, and any link beyond that limit.
 * @returns whether it answered
 */
async function answerClosed(
  request: AccountRequest,
  id: string,
  options: ResetPageOptions,
): Promise<boolean> {
  const address = String(request.ctx.state.clientAddress);
  const wait = await options.wrongLinks.take(address);
  if (wait > 0) {
    tellPerson(request.ctx, wait, 'too many reset links from this address do not work');
    return true;
  }
  const row = await options.artifacts.find(passwordResetKind, id);
  const open = row !== undefined && row.expiresAt > options.now();
  if (open) await options.wrongLinks.giveBack(address);
  else showEnd(request, 'gone');
  return !open;
}

function showEnd({ ctx, texts, url }: AccountRequest, end: ResetEnd): void {
  if (end !== 'done') ctx.status = 400;
  showPage(ctx, renderResetEnd(texts, url, end));
}

/**
 * Shows the form behind a link that an operator made. The link itself leads on to a page without the key in its address,
 * and uses nothing up: mail scanners open links as well.
 */
export async function showReset(request: AccountRequest, options: ResetPageOptions): Promise<void> {
  const { ctx, texts, url, csrf } = request;
  if (ctx.query.key !== undefined) {
    return goToPage(request, keepResetKey(request, options.box));
  }
  if (ctx.query.done !== undefined) return showEnd(request, 'done');
  const key = findResetKey(request, options.box);
  if (key === undefined) return showEnd(request, 'noLink');
  if (await answerClosed(request, hashSecret(passwordResetKind, key), options)) return;
  showPage(ctx, renderPasswordReset(texts, { url, csrf, key }));
}

/** Sets the password. Of many who come with one link one wins, and every session and grant ends (T-123). */
export async function submitReset(request: AccountRequest, options: ResetPageOptions): Promise<void> {
  const { ctx, texts, url, csrf, form } = request;
  const { accounts, hasher, audit, now } = options;
  const key = form.get('key') ?? '';
  const id = hashSecret(passwordResetKind, key);
  const refuse = (status: number, problem: string): void => {
    ctx.status = status;
    showPage(ctx, renderPasswordReset(texts, { url, csrf, key, problem }));
  };

  if (await answerClosed(request, id, options)) return;
  const typed = readNewPassword(texts, form);
  if ('problem' in typed) return refuse(400, typed.problem);
  const passwordHash = await hasher.hash(typed.password, [`reset ${id}`]).catch((error) => {
    if (error instanceof PasswordQueueFull) return undefined;
    throw error;
  });
  if (passwordHash === undefined) {
    audit('login.throttled', ctx, { reason: 'busy' });
    return refuse(503, texts.login.busy);
  }
  const accountId = await accounts.resetPassword(id, passwordHash, now());
  if (accountId === undefined) return showEnd(request, 'gone');
  audit('account.password_reset', ctx, { accountId });
  dropResetKey(request);
  goToPage(request, 'reset?done=1');
}
