import { parseScope } from '../../oauth/scope.ts';
import type { UpstreamStore } from '../../storage/upstreams.ts';
import type { Upstream, Upstreams } from '../../upstream/upstream.ts';
import type { Vault } from '../../upstream/vault.ts';
import type { AskedFor, Interaction } from '../interactions/interaction.ts';
import { checkAdmission, hasClaim } from './admission.ts';
import { upstreamsOfResource } from './choice.ts';
import { upstreamSessionOfAcr } from './login-acr.ts';
import type { NotAdmittedReason } from './purposes.ts';

/** Role of upstreams in the consent of a user who is logged in. */
export interface ConsentThrough {
  /** The upstream they came through. */
  through?: Upstream;
  /** The login there that the grant is bound to; absent if it is bound to none. */
  sessionId?: string;
  /** The upstream that has to be asked before anything is given. */
  next?: Upstream;
  /** Additional scopes requested at the upstream. */
  wanted: readonly string[];
  /** True if tokens are held that can be renewed. */
  holdsRefreshToken: boolean;
  /**
   * Returns the admission rule that the user does not satisfy, according to the upstream: the rule for all users, or
   * that for all of these scopes; undefined if there is none, or if the upstream will be asked again.
   */
  check(scopes: readonly string[]): NotAdmittedReason | undefined;
  /** Those of some scopes that may be given; all of them if it is asked anew. */
  limit(scopes: readonly string[]): string[];
}

/** Options of the look-up. */
export interface ConsentThroughOptions {
  upstreams: Upstreams;
  links: Pick<UpstreamStore, 'linkOfSession'>;
  vault: Pick<Vault, 'open' | 'profileOf'>;
}

/** Scopes that say who somebody is: an upstream may call them otherwise in its answer. */
const personal = new Set(['openid', 'profile', 'email', 'offline_access']);

/**
 * Creates the look at the login a consent rests on: a grant is bound to the login at the upstream, and if no tokens are
 * held for it, or too few, the upstream is asked again.
 * @returns what there is; undefined if the login came through an upstream that is gone
 */
export function createConsentThrough({ upstreams, links, vault }: ConsentThroughOptions) {
  return async (interaction: Interaction, { resource }: AskedFor): Promise<ConsentThrough | undefined> => {
    const required = upstreamsOfResource(upstreams, resource.resource);
    const sessionId = upstreamSessionOfAcr(interaction.session?.acr);
    const link = sessionId === undefined ? undefined : await links.linkOfSession(sessionId);
    const through = link && upstreams.find(link.upstream);
    if (sessionId !== undefined && !through) return undefined;
    const isEnough = required.length === 0 || (through !== undefined && required.includes(through));
    if (!link || !through || sessionId === undefined || !isEnough) {
      const [next] = isEnough ? [] : required;
      return {
        ...(through ? { through } : undefined),
        ...(next ? { next } : undefined),
        wanted: [],
        holdsRefreshToken: false,
        check: () => undefined,
        limit: (scopes) => [...scopes],
      };
    }
    const tokens = link.tokens === undefined ? undefined : vault.open(link);
    const held = new Set([...personal, ...(tokens?.scopes ?? [])]);
    const wanted = parseScope(link.wantedScopes);
    const mustAsk = tokens === undefined || wanted.some((scope) => !held.has(scope));
    const about = { through, sessionId, wanted, holdsRefreshToken: tokens?.refreshToken !== undefined };
    if (mustAsk) return { ...about, next: through, check: () => undefined, limit: (scopes) => [...scopes] };
    const { accounts, grantScopes } = through.settings;
    const claims = vault.profileOf(link);
    const { email } = claims;
    const who = { claims, ...(typeof email === 'string' ? { email } : undefined) };
    return {
      ...about,
      check: (scopes) => checkAdmission(accounts.allow ?? {}, who) ?? checkRoles(grantScopes, claims, scopes),
      limit: (scopes) => scopesForRoles(grantScopes, claims, scopes),
    };
  };
}

/** Finds what a consent has to do with upstreams. */
export type FindConsentThrough = ReturnType<typeof createConsentThrough>;

/** Whoever has a claim with this value may be given these scopes. */
export interface ScopeRule {
  claim: string;
  value: string;
  scopes: readonly string[];
}

/**
 * Returns those scopes that somebody may be given for the roles and groups an upstream says they have.
 * @param rules undefined if everybody may have every scope
 * @param claims what the upstream says
 */
export function scopesForRoles(
  rules: readonly ScopeRule[] | undefined,
  claims: Readonly<Record<string, unknown>>,
  scopes: readonly string[],
): string[] {
  if (rules === undefined) return [...scopes];
  const given = new Set(
    rules.filter(({ claim, value }) => hasClaim(claims, claim, [value])).flatMap((rule) => rule.scopes),
  );
  return scopes.filter((scope) => given.has(scope));
}

/**
 * Checks whether somebody may be given any of the scopes that are wanted.
 * @param wanted scopes of the resource
 * @returns the rule they do not fit; undefined if something is left, or none is wanted
 */
export function checkRoles(
  rules: readonly ScopeRule[] | undefined,
  claims: Readonly<Record<string, unknown>>,
  wanted: readonly string[],
): NotAdmittedReason | undefined {
  const isNoneLeft = wanted.length > 0 && scopesForRoles(rules, claims, wanted).length === 0;
  return isNoneLeft ? 'no_scope_for_roles' : undefined;
}
