import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { AccountStore } from '../../storage/accounts.ts';
import type { AuditLog } from '../audit.ts';
import { textsFor } from '../texts/page-texts.ts';
import { renderConsent } from '../views/consent.ts';
import { csrfToken } from './form.ts';
import { type AskedFor, finishInteraction, goOn, type Interaction } from './interaction.ts';
import { showPage } from './page.ts';

/** What the consent step works with. */
export interface ConsentStepOptions {
  provider: Provider;
  accounts: AccountStore;
  audit: AuditLog;
  csrfKeys: readonly string[];
  /** Absolute URL of an interaction's page. */
  pageUrl: (uid: string) => string;
}

function accountOf(interaction: Interaction): string {
  const accountId = interaction.session?.accountId;
  if (!accountId) throw new errors.SessionNotFound('nobody is logged in');
  return accountId;
}

/** Shows the consent page: who asks, for what, and where the answer goes. */
export async function showConsent(
  ctx: Context,
  options: ConsentStepOptions,
  interaction: Interaction,
  asked: AskedFor,
): Promise<void> {
  const { accounts, csrfKeys, pageUrl } = options;
  const account = await accounts.find(accountOf(interaction));
  if (!account) throw new errors.SessionNotFound('the account was removed');
  showPage(
    ctx,
    renderConsent(textsFor(ctx), {
      action: `${pageUrl(interaction.uid)}/consent`,
      switchAccountAction: `${pageUrl(interaction.uid)}/switch`,
      csrf: csrfToken(csrfKeys, 'consent', interaction.uid),
      client: asked.client,
      account: account.email,
      resourceName: asked.resource.name,
      resource: asked.resource.resource,
      answer: asked.answer,
      scopes: asked.scopes
        .filter((scope) => asked.resource.scopes[scope] !== undefined)
        .map((scope) => ({ scope, description: asked.resource.scopes[scope] ?? scope })),
      offlineAccess: asked.refreshes,
    }),
    asked.answer,
  );
}

/**
 * Carries out a posted consent form: makes the grant with what the person left ticked and records what they did not,
 * or hands the client `access_denied`.
 */
export async function submitConsent(
  ctx: Context,
  options: ConsentStepOptions,
  interaction: Interaction,
  asked: AskedFor,
  form: URLSearchParams,
): Promise<void> {
  const { provider, audit } = options;
  if (form.get('decision') !== 'allow') {
    audit('consent.denied', ctx, { accountId: interaction.session?.accountId, clientId: asked.clientId });
    return finishInteraction(ctx, interaction, {
      error: 'access_denied',
      error_description: 'the person did not give access',
    });
  }
  const ticked = new Set(form.getAll('scope'));
  const grant = new provider.Grant({ accountId: accountOf(interaction), clientId: asked.clientId });
  for (const scope of asked.scopes) {
    const ofResource = asked.resource.scopes[scope] !== undefined;
    const given = !ofResource || ticked.has(scope);
    if (given) grant.addOIDCScope(scope);
    else grant.rejectOIDCScope(scope);
    if (ofResource && given) grant.addResourceScope(asked.resource.resource, scope);
    else if (ofResource) grant.rejectResourceScope(asked.resource.resource, scope);
  }
  const grantId = await grant.save();
  audit('consent.granted', ctx, {
    accountId: interaction.session?.accountId,
    clientId: asked.clientId,
    scopes: asked.scopes.filter((scope) => ticked.has(scope)).join(' '),
  });
  await finishInteraction(ctx, interaction, { consent: { grantId } });
}

/** Ends the login session and asks for a login once more, for the same request. */
export async function switchAccount(
  ctx: Context,
  options: ConsentStepOptions,
  interaction: Interaction,
): Promise<void> {
  const uid = interaction.session?.uid;
  if (uid) await (await options.provider.Session.findByUid(uid))?.destroy();
  interaction.session = undefined;
  interaction.lastSubmission = undefined;
  interaction.prompt = { name: 'login', reasons: ['switch_account'], details: {} };
  await interaction.persist();
  goOn(ctx, options.pageUrl(interaction.uid));
}
