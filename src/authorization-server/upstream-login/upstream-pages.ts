import type { Context } from 'koa';
import { errors } from 'oidc-provider';
import type { AuthorizationWishes, Upstream, Upstreams } from '../../upstream/upstream.ts';
import type { AuditLog } from '../audit.ts';
import type { Lifetimes } from '../engine/configuration.ts';
import { denyAccess, opensNothing } from '../interactions/deny-access.ts';
import { csrfToken } from '../interactions/form.ts';
import { type AskedFor, finishInteraction, type Interaction } from '../interactions/interaction.ts';
import { redirectSeeOther, showPage } from '../interactions/page.ts';
import { listLearnedFacts } from '../learned-facts.ts';
import type { OperatorRelationOf } from '../operator-clients/operator-relation.ts';
import { textsFor } from '../texts/page-texts.ts';
import { offeredDurations, readDuration } from '../views/duration-choice.ts';
import { renderUpstreamApprove } from '../views/upstream-approve.ts';
import { renderUpstreamFault, type UpstreamFaultName } from '../views/upstream-fault.ts';
import { type BeginUpstream, failureOf, isUpstreamFault } from './begin-upstream.ts';
import { noteChoice, readChoice, waysIn } from './choice.ts';
import type { Approved } from './purposes.ts';

/** Options of the pages around an upstream in an authorization request. */
export interface UpstreamPagesOptions {
  upstreams: Upstreams;
  beginUpstream: BeginUpstream;
  operatorRelationOf: OperatorRelationOf;
  lifetimes: Pick<Lifetimes, 'grantSeconds' | 'accessTokenSeconds'>;
  audit: AuditLog;
  /** Cookie keys of the installation. */
  csrfKeys: readonly string[];
  /** Absolute URL of an interaction's page. */
  pageUrl: (uid: string) => string;
}

/** Errors that the client gets if the user gives up, by the obstacle (A10-03). */
const errorsOfFaults: Readonly<Record<UpstreamFaultName, { error: string; error_description: string }>> = {
  unavailable: {
    error: 'temporarily_unavailable',
    error_description: 'the login this server relies on cannot be reached at the moment',
  },
  refused: { error: 'server_error', error_description: 'the login this server relies on did not work' },
  notAdmitted: {
    error: 'access_denied',
    error_description: 'the login of the person may not be used for this',
  },
};

/** Reasons for which a login there that is still open does not do; an upstream then asks again who it is. */
const freshLoginReasons = ['switch_account', 'login_prompt', 'max_age'];

/** Returns true if the upstream must ask for a login again: the client wants it, or the last account was rejected. */
function mustAskWho(interaction: Interaction): boolean {
  const { reasons } = interaction.prompt;
  return (
    readChoice(interaction)?.otherAccount === true || reasons.some((one) => freshLoginReasons.includes(one))
  );
}

/**
 * Returns the maximum age of a login at the upstream, by the client's request (OpenID Connect Core 1.0 section
 * 3.1.2.1).
 */
function maxAgeOf({ prompt, params }: Interaction): number | undefined {
  if (prompt.reasons.includes('login_prompt')) return 0;
  return prompt.reasons.includes('max_age') ? Number(params.max_age) : undefined;
}

/** Returns the wishes for the upstream's authorization request. */
function wishesOf(interaction: Interaction): AuthorizationWishes {
  const { login_hint: hint, ui_locales: uiLocales } = interaction.params;
  return {
    ...(typeof hint === 'string' && hint.length <= 254 ? { loginHint: hint } : undefined),
    ...(typeof uiLocales === 'string' ? { uiLocales } : undefined),
    ...(mustAskWho(interaction) ? { prompt: 'login' } : undefined),
    maxAgeSeconds: maxAgeOf(interaction),
  };
}

/** Keeps a choice with the interaction and shows its page anew. */
export async function choose(
  ctx: Context,
  { pageUrl }: Pick<UpstreamPagesOptions, 'pageUrl'>,
  interaction: Interaction,
  choice: Parameters<typeof noteChoice>[1],
): Promise<void> {
  noteChoice(interaction, choice);
  await interaction.persist();
  redirectSeeOther(ctx, pageUrl(interaction.uid));
}

/** Shows the page on which an app is let in before its person is sent to an upstream (A11-01, A11-03). */
export async function showApprove(
  ctx: Context,
  options: UpstreamPagesOptions,
  interaction: Interaction,
  asked: AskedFor,
  upstream: Upstream,
): Promise<void> {
  const { upstreams, csrfKeys, pageUrl, lifetimes } = options;
  const { resource } = asked;
  const page = pageUrl(interaction.uid);
  const ways = waysIn(upstreams, interaction, resource.resource);
  const scopes = asked.scopes.filter((scope) => resource.scopes[scope] !== undefined);
  const html = renderUpstreamApprove(textsFor(ctx), {
    action: `${page}/approve`,
    otherAction: ways.own || ways.upstreams.length > 1 ? `${page}/other` : undefined,
    csrf: csrfToken(csrfKeys, 'login', interaction.uid),
    client: { ...asked.client, standing: await options.operatorRelationOf(asked.client) },
    resourceName: resource.name,
    resource: resource.resource,
    answer: asked.answer,
    scopes: scopes.map((scope) => ({
      scope,
      description: resource.scopes[scope] ?? scope,
      isAllowed: false,
    })),
    learned: listLearnedFacts(resource, upstream),
    time: asked.refreshes
      ? { choices: offeredDurations(lifetimes.grantSeconds), longestSeconds: lifetimes.grantSeconds }
      : { choices: [], longestSeconds: lifetimes.accessTokenSeconds },
    upstream: { name: upstream.name, label: upstream.label, scopes: upstream.scopes },
  });
  showPage(ctx, html);
}

/** Shows why a login through an upstream came to nothing, and the ways on. */
export function showFault(
  ctx: Context,
  options: UpstreamPagesOptions,
  interaction: Interaction,
  asked: AskedFor,
  fault: UpstreamFaultName,
): void {
  const { upstreams, csrfKeys, pageUrl } = options;
  const name = readChoice(interaction)?.upstream ?? '';
  const ways = waysIn(upstreams, interaction, asked.resource.resource);
  const hasOther = interaction.prompt.name === 'login' && (ways.own || ways.upstreams.length > 1);
  const form = (step: string) => ({
    action: `${pageUrl(interaction.uid)}/${step}`,
    csrf: csrfToken(csrfKeys, 'fault', interaction.uid),
  });
  const html = renderUpstreamFault(textsFor(ctx), {
    fault,
    label: upstreams.find(name)?.label ?? name,
    ways: [
      { name: 'again', ...form('again') },
      ...(hasOther ? [{ name: 'otherWay' as const, ...form('elsewhere') }] : []),
      { name: 'backToApp', ...form('leave') },
    ],
    requestId: String(ctx.state.requestId),
  });
  showPage(ctx, html);
}

/** A posted form of these pages. */
export type UpstreamStep = (
  ctx: Context,
  options: UpstreamPagesOptions,
  interaction: Interaction,
  asked: AskedFor,
  form: URLSearchParams,
) => Promise<void>;

/** Takes the choice of an upstream on the login page: the page of its approval follows. */
export const submitUpstream: UpstreamStep = async (ctx, options, interaction, asked, form) => {
  const { upstreams } = waysIn(options.upstreams, interaction, asked.resource.resource);
  const upstream = upstreams.find(({ name }) => name === form.get('upstream'));
  if (!upstream) throw new errors.SessionNotFound('this upstream is not offered any more');
  const { otherAccount } = readChoice(interaction) ?? {};
  await choose(ctx, options, interaction, {
    upstream: upstream.name,
    ...(otherAccount ? { otherAccount } : undefined),
  });
};

/** Goes back to the other ways to log in. */
export const submitOtherWay: UpstreamStep = async (ctx, options, interaction) => {
  await choose(ctx, options, interaction, { upstream: '' });
};

/** Redirects to the client with the obstacle as the error. */
export const submitLeave: UpstreamStep = async (ctx, _options, interaction) => {
  const { fault } = readChoice(interaction) ?? {};
  if (!fault) throw new errors.SessionNotFound('this form belongs to an earlier page');
  await finishInteraction(ctx, interaction, errorsOfFaults[fault]);
};

/**
 * Sends a person who has allowed an app on to an upstream. If that cannot be reached, they are told so.
 * @param wishes over what the interaction says
 */
export async function goToUpstream(
  ctx: Context,
  options: UpstreamPagesOptions,
  interaction: Interaction,
  upstream: Upstream,
  purpose: { clientId: string; approved: Approved },
  wishes: AuthorizationWishes = {},
): Promise<void> {
  try {
    await options.beginUpstream(
      ctx,
      upstream,
      { purpose: 'authorization', uid: interaction.uid, ...purpose },
      { ...wishesOf(interaction), ...wishes },
    );
  } catch (error) {
    if (!isUpstreamFault(error)) throw error;
    const failure = failureOf(error);
    const { name } = upstream;
    options.audit('upstream.refused', ctx, {
      upstream: name,
      purpose: 'authorization',
      clientId: purpose.clientId,
      reason: error.reason,
    });
    await choose(ctx, options, interaction, {
      upstream: name,
      fault: failure === 'denied' ? 'refused' : failure,
    });
  }
}

/** Carries out the approval of an app by somebody who is not known yet: on to the upstream, or `access_denied`. */
export const submitApprove: UpstreamStep = async (ctx, options, interaction, asked, form) => {
  const { clientId } = asked;
  const scopes = form.getAll('scope').filter((scope) => asked.scopes.includes(scope));
  if (form.get('decision') !== 'allow' || opensNothing(scopes, asked))
    return denyAccess(ctx, options.audit, interaction, asked);
  const { chosen } = waysIn(options.upstreams, interaction, asked.resource.resource);
  if (!chosen || chosen.name !== form.get('upstream'))
    throw new errors.SessionNotFound('this form belongs to an earlier page');
  await goToUpstream(ctx, options, interaction, chosen, {
    clientId,
    approved: {
      scopes,
      expiresIn: readDuration(form, options.lifetimes.grantSeconds),
      endEarlier: false,
    },
  });
};
