import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { Upstreams } from '../../upstream/upstream.ts';
import type { AuditLog } from '../audit.ts';
import { answerLogin } from '../authentication/answer-login.ts';
import type { Authentication, LoginOutcome } from '../authentication/authentication.ts';
import type { KnownDevices } from '../authentication/known-device.ts';
import type { Passkeys } from '../authentication/passkeys.ts';
import { textsFor } from '../texts/page-texts.ts';
import { waysIn } from '../upstream-login/choice.ts';
import { renderCode, renderLogin } from '../views/login.ts';
import { passkeyScriptSource } from '../views/passkey-form.ts';
import { csrfToken } from './form.ts';
import { type AskedFor, finishInteraction, type Interaction, leaveOtherAccount } from './interaction.ts';
import { showPage } from './page.ts';

/** Options of the login step. */
export interface LoginStepOptions {
  provider: Provider;
  authentication: Authentication;
  passkeys: Passkeys;
  devices: KnownDevices;
  audit: AuditLog;
  /** Upstreams through which users may log in. */
  upstreams: Upstreams;
  /** Cookie keys of the installation. */
  csrfKeys: readonly string[];
  /** Absolute URL of an interaction's page. */
  pageUrl: (uid: string) => string;
}

/** Returns the binding of a login in an interaction. */
function bindingOf({ uid }: Interaction): string {
  return `interaction ${uid}`;
}

/** Shows the login page; `problem` says what was wrong with the last try. */
export async function showLogin(
  ctx: Context,
  options: LoginStepOptions,
  interaction: Interaction,
  asked: AskedFor,
  again: { email?: string; problem?: string } = {},
): Promise<void> {
  const { csrfKeys, pageUrl, passkeys } = options;
  const hint = interaction.params.login_hint;
  const email = again.email ?? (typeof hint === 'string' && hint.length <= 254 ? hint : undefined);
  const page = pageUrl(interaction.uid);
  const csrf = csrfToken(csrfKeys, 'login', interaction.uid);
  const ways = waysIn(options.upstreams, interaction, asked.resource.resource);
  const passkeyOptions = ways.own ? await passkeys.loginOptions(bindingOf(interaction)) : undefined;
  showPage(
    ctx,
    renderLogin(textsFor(ctx), {
      action: `${page}/login`,
      cancelAction: `${page}/cancel`,
      csrf,
      client: asked.client,
      resourceName: asked.resource.name,
      upstreams: { action: `${page}/upstream`, choices: ways.upstreams },
      upstreamsOnly: !ways.own,
      ...(passkeyOptions
        ? { passkey: { action: `${page}/passkey`, csrf, options: passkeyOptions } }
        : undefined),
      ...(email ? { email } : undefined),
      ...(again.problem ? { problem: again.problem } : undefined),
    }),
    passkeyOptions && passkeyScriptSource,
  );
}

/** A posted step of a login: a password, the one-time code after it, or a passkey. */
export type LoginStep = (
  ctx: Context,
  options: LoginStepOptions,
  interaction: Interaction,
  asked: AskedFor,
  form: URLSearchParams,
) => Promise<void>;

/** Creates a step from the check of its form. A user who has logged in continues with the interaction. */
function loginStep(
  check: (
    authentication: Authentication,
    ...asked: Parameters<Authentication['byPassword']>
  ) => Promise<LoginOutcome>,
): LoginStep {
  return async (ctx, options, interaction, asked, form) => {
    const { provider, authentication, audit, devices, csrfKeys, pageUrl } = options;
    if (!waysIn(options.upstreams, interaction, asked.resource.resource).own)
      throw new errors.SessionNotFound('this resource wants a login elsewhere');
    const email = form.get('email');
    await answerLogin(ctx, await check(authentication, ctx, form, bindingOf(interaction)), {
      audit,
      devices,
      clientId: asked.clientId,
      async accept(account, amr) {
        await leaveOtherAccount(ctx, provider, interaction, account.id);
        await finishInteraction(ctx, interaction, { login: { accountId: account.id, amr } });
      },
      showLogin: (problem) =>
        showLogin(ctx, options, interaction, asked, { problem, ...(email ? { email } : undefined) }),
      showCode(pending, problem) {
        const page = renderCode(textsFor(ctx), {
          action: `${pageUrl(interaction.uid)}/code`,
          csrf: csrfToken(csrfKeys, 'login', interaction.uid),
          pending,
          about: asked.resource.name,
          ...(problem === undefined ? undefined : { problem }),
        });
        showPage(ctx, page);
      },
    });
  };
}

/** Carries out a posted password. */
export const submitLogin = loginStep((authentication, ...asked) => authentication.byPassword(...asked));

/** Carries out a posted one-time code. */
export const submitCode = loginStep((authentication, ...asked) => authentication.byCode(...asked));

/** Carries out a posted passkey. */
export const submitPasskey = loginStep((authentication, ...asked) => authentication.byPasskey(...asked));
