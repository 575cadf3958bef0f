import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { AccountStore } from '../../storage/accounts.ts';
import { grantKey } from '../engine/stored-rows.ts';
import { currentWriteSet } from '../engine/write-set.ts';
import { listLearnedFacts } from '../learned-facts.ts';
import type { ToolsOf } from '../resources.ts';
import { textsFor } from '../texts/page-texts.ts';
import { type Choice, noteChoice, readChoice } from '../upstream-login/choice.ts';
import type { ConsentThrough, FindConsentThrough } from '../upstream-login/consent-through.ts';
import type { NotAdmittedReason } from '../upstream-login/purposes.ts';
import { choose, goToUpstream, type UpstreamPagesOptions } from '../upstream-login/upstream-pages.ts';
import { renderConsent } from '../views/consent.ts';
import { offeredDurations, readDuration } from '../views/duration-choice.ts';
import { denyAccess, opensNothing } from './deny-access.ts';
import { csrfToken } from './form.ts';
import { type AskedFor, finishInteraction, type Interaction } from './interaction.ts';
import { type AllowedBefore, endEarlier, makeGrant } from './make-grant.ts';
import { redirectSeeOther, showPage } from './page.ts';
import { endAbandonedGrants, type FindAbandonedGrants } from './registered-anew.ts';

/** Options of the consent step. */
export interface ConsentStepOptions extends UpstreamPagesOptions {
  provider: Provider;
  accounts: AccountStore;
  allowedBefore: AllowedBefore;
  findAbandonedGrants: FindAbandonedGrants;
  toolsOf: ToolsOf;
  consentThrough: FindConsentThrough;
}

/**
 * Number of grants of the same app that the page reads to show earlier permissions: a user has one for each time that
 * an install of the app logged in, and clients can get thousands. A permission that only an older grant has is shown as
 * new, and can be ended all the same.
 */
const earlierShown = 20;

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
  const upstream = await options.consentThrough(interaction, asked);
  if (!upstream) return switchAccount(ctx, options, interaction, asked);
  const wanted = asked.scopes.filter((scope) => resource.scopes[scope] !== undefined);
  const refusal = upstream.check(wanted);
  if (refusal) return turnAway(ctx, options, interaction, asked, upstream, refusal);
  const scopes = upstream.limit(wanted);
  const about = { accountId: account.id, clientId, resource: resource.resource };
  const [standing, earlier, listed] = await Promise.all([
    options.operatorRelationOf(asked.client),
    options.allowedBefore(about.accountId, about.clientId, about.resource, earlierShown),
    options.toolsOf({ ...about, scopes }),
  ]);
  const tools = listed === 'not_yet' ? undefined : listed;
  showPage(
    ctx,
    renderConsent(textsFor(ctx), {
      action: `${pageUrl(interaction.uid)}/consent`,
      switchAccountAction: `${pageUrl(interaction.uid)}/switch`,
      csrf: csrfToken(csrfKeys, 'consent', interaction.uid),
      client: { ...asked.client, standing },
      account: account.email,
      ...(upstream.through ? { through: upstream.through.label } : undefined),
      ...(upstream.next
        ? {
            next: upstream.next.label,
            nextScopes: [...new Set([...upstream.next.scopes, ...upstream.wanted])],
          }
        : undefined),
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
      learned: listLearnedFacts(resource, upstream.next ?? upstream.through),
      awaitsTools: listed === 'not_yet',
      hasEarlier: earlier.grantIds.length > 0 || earlier.mayHaveMore,
      time: asked.refreshes
        ? { choices: offeredDurations(lifetimes.grantSeconds), longestSeconds: lifetimes.grantSeconds }
        : { choices: [], longestSeconds: lifetimes.accessTokenSeconds },
    }),
  );
}

/**
 * Carries out a posted consent form: makes the grant with what the person left ticked, for as long as they chose, and
 * records what they did not tick; or denies access, also if the permissions left ticked would open nothing.
 */
export async function submitConsent(
  ctx: Context,
  options: ConsentStepOptions,
  interaction: Interaction,
  asked: AskedFor,
  form: URLSearchParams,
): Promise<void> {
  const { provider, audit } = options;
  if (form.get('decision') !== 'allow') return denyAccess(ctx, audit, interaction, asked);
  const accountId = accountOf(interaction);
  const { clientId, resource } = asked;
  const upstream = await options.consentThrough(interaction, asked);
  if (!upstream) return switchAccount(ctx, options, interaction, asked);
  const ticked = form
    .getAll('scope')
    .filter((scope) => asked.scopes.includes(scope) && resource.scopes[scope] !== undefined);
  const refusal = upstream.check(ticked);
  if (refusal) return turnAway(ctx, options, interaction, asked, upstream, refusal);
  const expiresIn = readDuration(form, options.lifetimes.grantSeconds);
  const scopes = upstream.limit(ticked);
  if (opensNothing(scopes, asked)) {
    if (form.has('end_earlier')) await endEarlier(ctx, options, accountId, asked);
    return denyAccess(ctx, audit, interaction, asked);
  }
  if (upstream.next) {
    const approved = { scopes, expiresIn, accountId, endEarlier: form.has('end_earlier') };
    const wishes = { scopes: upstream.wanted, holdsRefreshToken: upstream.holdsRefreshToken };
    return goToUpstream(ctx, options, interaction, upstream.next, { clientId, approved }, wishes);
  }
  if (form.has('end_earlier')) await endEarlier(ctx, options, accountId, asked);
  await endAbandonedGrants(ctx, options, accountId, asked);
  const grantId = await makeGrant(provider, asked, { accountId, scopes: new Set(scopes), expiresIn });
  const { sessionId } = upstream;
  if (sessionId !== undefined)
    currentWriteSet()?.add({ type: 'bindGrant', id: grantKey(grantId), upstreamSessionId: sessionId });
  audit('consent.granted', ctx, {
    accountId,
    clientId,
    seconds: String(expiresIn),
    scopes: scopes.join(' '),
    upstream: upstream.through?.name,
  });
  await finishInteraction(ctx, interaction, { consent: { grantId } });
}

/**
 * Shows a user that they do not meet the rules of their upstream. A login that may no longer be used here ends. A login
 * that only lacks the permissions that this app requests stays: an app's request ends no login (T-122).
 */
async function turnAway(
  ctx: Context,
  options: ConsentStepOptions,
  interaction: Interaction,
  asked: AskedFor,
  { through }: ConsentThrough,
  refusal: NotAdmittedReason,
): Promise<void> {
  const upstream = through?.name ?? '';
  options.audit('upstream.refused', ctx, {
    accountId: accountOf(interaction),
    upstream,
    purpose: 'authorization',
    clientId: String(interaction.params.client_id),
    reason: refusal,
  });
  const choice: Choice = { upstream, fault: 'notAdmitted', otherAccount: true };
  if (refusal === 'no_scope_for_roles') await choose(ctx, options, interaction, choice);
  else await switchAccount(ctx, options, interaction, asked, choice);
}

/** Tries again after a fault; with another account if the logged-in account was the fault. */
export async function submitAgain(
  ctx: Context,
  options: ConsentStepOptions,
  interaction: Interaction,
  asked: AskedFor,
): Promise<void> {
  const { fault: _fault, ...choice } = readChoice(interaction) ?? { upstream: '' };
  if (choice.otherAccount && interaction.prompt.name !== 'login')
    await switchAccount(ctx, options, interaction, asked, choice);
  else await choose(ctx, options, interaction, choice);
}

/**
 * Ends the login session and asks for a login once more, for the same request.
 * @param choice initial choice of its pages; the default login pages if absent
 */
export async function switchAccount(
  ctx: Context,
  options: ConsentStepOptions,
  interaction: Interaction,
  asked: AskedFor,
  choice?: Choice,
): Promise<void> {
  const uid = interaction.session?.uid;
  if (uid) await (await options.provider.Session.findByUid(uid))?.destroy();
  interaction.session = undefined;
  interaction.lastSubmission = asked.isServerChosen ? { serverChosen: true } : undefined;
  interaction.prompt = { name: 'login', reasons: ['switch_account'], details: {} };
  noteChoice(interaction, choice);
  await interaction.persist();
  redirectSeeOther(ctx, options.pageUrl(interaction.uid));
}
