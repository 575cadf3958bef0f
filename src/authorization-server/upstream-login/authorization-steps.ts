import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { AccountStore, IdentityStore } from '../../storage/accounts.ts';
import type { UpstreamStore } from '../../storage/upstreams.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import type { Vault } from '../../upstream/vault.ts';
import type { AuditLog } from '../audit.ts';
import { grantKey } from '../engine/stored-rows.ts';
import { currentWriteSet } from '../engine/write-set.ts';
import {
  type AskedFor,
  finishInteraction,
  type Interaction,
  leaveOtherAccount,
  readRequest,
  resumeInteraction,
} from '../interactions/interaction.ts';
import { type AllowedBefore, endEarlier, makeGrant } from '../interactions/make-grant.ts';
import { redirectSeeOther } from '../interactions/page.ts';
import { endAbandonedGrants, type FindAbandonedGrants } from '../interactions/registered-anew.ts';
import type { ResourceRegistry } from '../resources.ts';
import { keepUiLocales } from '../texts/page-texts.ts';
import { findAccountOfLogin, type TrustsEmailDomain } from './account-of-login.ts';
import { checkAdmission } from './admission.ts';
import { noteChoice } from './choice.ts';
import { checkRoles, scopesForRoles } from './consent-through.ts';
import { acrOfUpstreamSession } from './login-acr.ts';
import { type AuthorizationPurpose, NotAdmitted, type PurposeSteps } from './purposes.ts';

/** Options of the login for an authorization request. */
export interface AuthorizationStepsOptions {
  provider: Provider;
  accounts: AccountStore;
  identities: IdentityStore;
  isBelieved: TrustsEmailDomain;
  links: Pick<UpstreamStore, 'findOfAccount'>;
  vault: Pick<Vault, 'changesOfLogin'>;
  resources: ResourceRegistry;
  identityScopes: readonly string[];
  allowedBefore: AllowedBefore;
  findAbandonedGrants: FindAbandonedGrants;
  audit: AuditLog;
  /** True if servers at other ports of the host get our cookies, and can set them. */
  portsShareCookies: boolean;
  /** Absolute URL of an interaction's page. */
  pageUrl: (uid: string) => string;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Creates the steps for a user who returns from an upstream during an authorization request. Account, tokens, grant and
 * link are written in one commit with the result of the interaction (A10-01, T-079).
 */
export function createAuthorizationSteps(
  options: AuthorizationStepsOptions,
): PurposeSteps<AuthorizationPurpose> {
  const { provider, links, vault, audit, pageUrl } = options;

  /** Loads an interaction without its cookie, which is not sent here; the cookie of the state stands for it. */
  async function load(ctx: Context, uid: string): Promise<Interaction> {
    const interaction = await provider.Interaction.find(uid);
    if (!interaction) throw new errors.SessionNotFound('the interaction is over');
    const { session } = interaction;
    const present = session?.uid ? await provider.Session.findByUid(session.uid) : undefined;
    if (session?.uid && present?.accountId !== session.accountId)
      throw new errors.SessionNotFound('the login has ended meanwhile');
    keepUiLocales(ctx, interaction.params.ui_locales);
    return interaction;
  }

  const read = (interaction: Interaction): Promise<AskedFor> =>
    readRequest(provider, interaction, options.resources, options.identityScopes, options.now());

  /**
   * Returns those scopes somebody may have of the approved ones.
   * @throws NotAdmitted if that is none of them
   */
  function scopesOf(
    { settings }: Upstream,
    claims: Readonly<Record<string, unknown>>,
    approved: readonly string[],
    { resource }: AskedFor,
  ): Set<string> {
    const wanted = approved.filter((scope) => resource.scopes[scope] !== undefined);
    const refusal = checkRoles(settings.grantScopes, claims, wanted);
    if (refusal) throw new NotAdmitted(refusal);
    return new Set(scopesForRoles(settings.grantScopes, claims, wanted));
  }

  return {
    async isOpen(ctx, { uid }) {
      const interaction = await load(ctx, uid);
      await read(interaction);
      return interaction.result === undefined;
    },

    async finish(ctx, { uid, approved }, { upstream, identity, tokens, sid }) {
      const interaction = await load(ctx, uid);
      if (interaction.result !== undefined) return resumeInteraction(ctx, interaction);
      const asked = await read(interaction);
      const refusal = checkAdmission(upstream.settings.accounts.allow ?? {}, identity);
      if (refusal) throw new NotAdmitted(refusal);
      const { account, by, changes } = await findAccountOfLogin(options, upstream, identity);
      const present = await links.findOfAccount(account.id, upstream.name);
      const login = vault.changesOfLogin({
        upstream,
        accountId: account.id,
        identity,
        tokens,
        sid,
        present,
      });
      const writes = currentWriteSet();
      const { id: accountId, passwordHash } = account;
      for (const change of changes) writes?.add(change);
      writes?.add({ type: 'requirePassword', accountId, passwordHash });
      for (const change of login.changes) writes?.add(change);
      const { issuer, subject } = identity;
      const about = { accountId, clientId: asked.clientId, upstream: upstream.name };
      if (by !== 'known') audit(`account.${by}`, ctx, { ...about, issuer, subject });
      audit('login.succeeded', ctx, { ...about, amr: 'fed' });

      await leaveOtherAccount(ctx, provider, interaction, accountId);
      const result = { login: { accountId, amr: ['fed'], acr: acrOfUpstreamSession(login.sessionId) } };
      // Somebody else than who allowed it has come back: they are asked themselves. Where another port of the host can set
      // our cookies, an app may have allowed itself what nobody logged in had allowed (T-208).
      const isTheirs =
        approved.accountId === undefined ? !options.portsShareCookies : approved.accountId === accountId;
      if (!isTheirs) return finishInteraction(ctx, interaction, result);

      const scopes = scopesOf(upstream, identity.claims, approved.scopes, asked);
      if (approved.endEarlier) await endEarlier(ctx, options, accountId, asked);
      await endAbandonedGrants(ctx, options, accountId, asked);
      const grantId = await makeGrant(provider, asked, { accountId, scopes, expiresIn: approved.expiresIn });
      writes?.add({ type: 'bindGrant', id: grantKey(grantId), upstreamSessionId: login.sessionId });
      audit('consent.granted', ctx, {
        ...about,
        seconds: String(approved.expiresIn),
        scopes: [...scopes].join(' '),
      });
      await finishInteraction(ctx, interaction, { ...result, consent: { grantId } });
    },

    async fail(ctx, { uid }, { name }, failure) {
      const interaction = await load(ctx, uid);
      if (interaction.result !== undefined) return resumeInteraction(ctx, interaction);
      if (failure === 'denied')
        return finishInteraction(ctx, interaction, {
          error: 'access_denied',
          error_description: 'the person did not log in',
        });
      noteChoice(interaction, {
        upstream: name,
        fault: failure,
        ...(failure === 'notAdmitted' ? { otherAccount: true } : undefined),
      });
      await interaction.persist();
      redirectSeeOther(ctx, pageUrl(uid));
    },
  };
}
