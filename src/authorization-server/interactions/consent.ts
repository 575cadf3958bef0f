import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { AccountStore } from '../../storage/accounts.ts';
import type { AuditLog } from '../audit.ts';
import type { Lifetimes } from '../engine/configuration.ts';
import { currentWriteSet } from '../engine/write-set.ts';
import type { StandingOf } from '../operator-clients/standing.ts';
import type { ToolsOf } from '../resources.ts';
import { textsFor } from '../texts/page-texts.ts';
import { renderConsent } from '../views/consent.ts';
import type { AllowedBefore } from './allowed-before.ts';
import { offeredDurations, readDuration } from './durations.ts';
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
  allowedBefore: AllowedBefore;
  standingOf: StandingOf;
  toolsOf: ToolsOf;
  lifetimes: Pick<Lifetimes, 'grantSeconds' | 'accessTokenSeconds'>;
}

function accountOf(interaction: Interaction): string {
  const accountId = interaction.session?.accountId;
  if (!accountId) throw new errors.SessionNotFound('nobody is logged in');
  return accountId;
}

/** Shows the consent page: who asks, for what, what of it is new, for how long, and where the answer goes. */
export async function showConsent(
  ctx: Context,
  options: ConsentStepOptions,
  interaction: Interaction,
  asked: AskedFor,
): Promise<void> {
  const { accounts, csrfKeys, pageUrl, lifetimes } = options;
  const account = await accounts.find(accountOf(interaction));
  if (!account) throw new errors.SessionNotFound('the account was removed');
  const { clientId, resource } = asked;
  const scopes = asked.scopes.filter((scope) => resource.scopes[scope] !== undefined);
  const about = { accountId: account.id, clientId, resource: resource.resource };
  const [standing, earlier, tools] = await Promise.all([
    options.standingOf(asked.client),
    options.allowedBefore(about.accountId, about.clientId, about.resource),
    options.toolsOf({ ...about, scopes }),
  ]);
  showPage(
    ctx,
    renderConsent(textsFor(ctx), {
      action: `${pageUrl(interaction.uid)}/consent`,
      switchAccountAction: `${pageUrl(interaction.uid)}/switch`,
      csrf: csrfToken(csrfKeys, 'consent', interaction.uid),
      client: { ...asked.client, standing },
      account: account.email,
      resourceName: resource.name,
      resource: resource.resource,
      answer: asked.answer,
      scopes: scopes.map((scope) => ({
        scope,
        description: resource.scopes[scope] ?? scope,
        isAllowed: earlier.scopes.has(scope),
        ...(tools ? { tools: tools.byScope[scope] ?? [] } : undefined),
      })),
      freeTools: tools?.free ?? [],
      hasEarlier: earlier.grantIds.length > 0,
      time: asked.refreshes
        ? { choices: offeredDurations(lifetimes.grantSeconds), longestSeconds: lifetimes.grantSeconds }
        : { choices: [], longestSeconds: lifetimes.accessTokenSeconds },
    }),
    asked.answer,
  );
}

/**
 * Ends what the client was given at this resource before, in the same commit as the new grant. Only where the person
 * says so: installs of one client share its identifier, and each has a grant of its own.
 */
async function endEarlier(
  ctx: Context,
  { allowedBefore, audit }: ConsentStepOptions,
  accountId: string,
  { clientId, resource }: AskedFor,
): Promise<void> {
  const { grantIds } = await allowedBefore(accountId, clientId, resource.resource);
  for (const id of grantIds) currentWriteSet()?.add({ type: 'removeGrant', id });
  if (grantIds.length > 0) audit('grant.revoked', ctx, { accountId, clientId, reason: 'ended_at_consent' });
}

/**
 * Carries out a posted consent form: makes the grant with what the person left ticked, for as long as they chose, and
 * records what they did not tick; or hands the client `access_denied`.
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
  const accountId = accountOf(interaction);
  const { clientId } = asked;
  const ticked = new Set(form.getAll('scope'));
  const expiresIn = readDuration(form, options.lifetimes.grantSeconds);
  if (form.has('end_earlier')) await endEarlier(ctx, options, accountId, asked);
  const grant = Object.assign(new provider.Grant({ accountId, clientId }), { expiresIn });
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
    accountId,
    clientId,
    seconds: String(expiresIn),
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
