import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import type { AuditLog } from '../audit.ts';
import { currentWriteSet } from '../engine/write-set.ts';
import type { Login } from '../login.ts';
import { textsFor } from '../texts/page-texts.ts';
import { renderLogin } from '../views/login.ts';
import { csrfToken } from './form.ts';
import { type AskedFor, finishInteraction, type Interaction } from './interaction.ts';
import { showPage } from './page.ts';

/** What the login step works with. */
export interface LoginStepOptions {
  provider: Provider;
  login: Login;
  audit: AuditLog;
  csrfKeys: readonly string[];
  /** Absolute URL of an interaction's page. */
  pageUrl: (uid: string) => string;
}

/** Shows the login page; `problem` says what was wrong with the last try. */
export function showLogin(
  ctx: Context,
  options: LoginStepOptions,
  interaction: Interaction,
  asked: AskedFor,
  again: { email?: string; problem?: string } = {},
): void {
  const { csrfKeys, pageUrl } = options;
  const hint = interaction.params.login_hint;
  const email = again.email ?? (typeof hint === 'string' && hint.length <= 254 ? hint : undefined);
  showPage(
    ctx,
    renderLogin(textsFor(ctx), {
      action: `${pageUrl(interaction.uid)}/login`,
      cancelAction: `${pageUrl(interaction.uid)}/cancel`,
      csrf: csrfToken(csrfKeys, 'login', interaction.uid),
      client: asked.client,
      resourceName: asked.resource.name,
      ...(email ? { email } : undefined),
      ...(again.problem ? { problem: again.problem } : undefined),
    }),
    asked.answer,
  );
}

/**
 * Whoever else is logged in in this browser by now is logged out, so that the engine starts a new session, and the
 * interaction is freed from a session that is no longer the browser's.
 */
async function leaveOtherAccount(
  ctx: Context,
  provider: Provider,
  interaction: Interaction,
  accountId: string,
): Promise<void> {
  const present = await provider.Session.get(ctx);
  const stays = present.accountId === undefined || present.accountId === accountId;
  if (!stays) await present.destroy();
  if (!stays || present.uid !== interaction.session?.uid) interaction.session = undefined;
}

/** Carries out a posted login form. */
export async function submitLogin(
  ctx: Context,
  options: LoginStepOptions,
  interaction: Interaction,
  asked: AskedFor,
  form: URLSearchParams,
): Promise<void> {
  const { provider, login, audit } = options;
  const email = form.get('email') ?? '';
  const result = await login(email, form.get('password') ?? '', String(ctx.state.clientAddress));
  switch (result.outcome) {
    case 'accepted':
      audit('login.succeeded', ctx, { accountId: result.account.id, clientId: asked.clientId });
      currentWriteSet()?.add({
        type: 'requirePassword',
        accountId: result.account.id,
        passwordHash: result.account.passwordHash,
      });
      await leaveOtherAccount(ctx, provider, interaction, result.account.id);
      return finishInteraction(ctx, interaction, { login: { accountId: result.account.id, amr: ['pwd'] } });
    case 'refused':
      audit('login.failed', ctx, { accountId: result.accountId, clientId: asked.clientId });
      ctx.status = 401;
      return showLogin(ctx, options, interaction, asked, {
        email,
        problem: textsFor(ctx).login.refused,
      });
    case 'throttled':
    case 'busy':
      audit('login.throttled', ctx, { clientId: asked.clientId, reason: result.outcome });
      ctx.status = result.outcome === 'busy' ? 503 : 429;
      ctx.set('Retry-After', String(result.retryAfterSeconds));
      return showLogin(ctx, options, interaction, asked, {
        email,
        problem:
          result.outcome === 'busy'
            ? textsFor(ctx).login.busy
            : textsFor(ctx).login.throttled(result.retryAfterSeconds),
      });
  }
}
