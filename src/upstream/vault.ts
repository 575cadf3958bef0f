import { randomUUID } from 'node:crypto';
import type { SealedBox } from '../crypto/sealed-box.ts';
import type { UpstreamChange, UpstreamLinkRow } from '../storage/upstreams.ts';
import type { Upstream, UpstreamIdentity, UpstreamTokens } from './upstream.ts';

/** A person who has logged in at an upstream, and their account. */
export interface UpstreamLogin {
  upstream: Pick<Upstream, 'name'>;
  accountId: string;
  identity: UpstreamIdentity;
  tokens: UpstreamTokens;
  /** The session id of the upstream. */
  sid?: string | undefined;
  /** The stored link of the account to this upstream, if there is one. */
  present?: UpstreamLinkRow | undefined;
}

/** Seals and opens the stored tokens and profiles of upstreams (T-094). */
export interface Vault {
  /**
   * Returns the changes to write after a login: the tokens as the next generation, and the upstream session.
   * A login without a refresh token keeps the stored one of the same subject (AS-4).
   * @returns the changes in their order, and the id of the new upstream session
   */
  changesOfLogin(login: UpstreamLogin): { changes: UpstreamChange[]; sessionId: string };
  /**
   * Opens the tokens of a link; undefined if it has none.
   * @throws SealBroken if no key opens them
   */
  open(link: UpstreamLinkRow): UpstreamTokens | undefined;
  /**
   * Opens the profile of the person.
   * @throws SealBroken if no key opens it
   */
  profileOf(link: UpstreamLinkRow): Readonly<Record<string, unknown>>;
  /** Seals tokens for the row of a link. */
  sealTokens(linkId: string, tokens: UpstreamTokens): Uint8Array;
  /**
   * Opens tokens that were sealed for the row of a link.
   * @throws SealBroken if no key opens them
   */
  openTokens(linkId: string, sealed: Uint8Array): UpstreamTokens;
}

/** The context that sealed tokens are bound to. */
const tokensContext = (linkId: string): string => `UpstreamTokens:${linkId}`;

/** The context that a sealed profile is bound to. */
const profileContext = (linkId: string): string => `UpstreamProfile:${linkId}`;

/** Returns the profile to store: the claims, and the verified parts of the identity. */
function profileFrom({ claims, email, name }: UpstreamIdentity): Record<string, unknown> {
  const { email: _claimed, ...others } = claims;
  return {
    ...others,
    ...(email === undefined ? undefined : { email }),
    ...(name === undefined ? undefined : { name }),
  };
}

/** @param now epoch seconds */
export function createVault(box: SealedBox, now: () => number): Vault {
  const openTokens = (linkId: string, sealed: Uint8Array): UpstreamTokens =>
    JSON.parse(box.open(sealed, tokensContext(linkId))) as UpstreamTokens;
  const sealTokens = (linkId: string, tokens: UpstreamTokens): Uint8Array =>
    box.seal(JSON.stringify(tokens), tokensContext(linkId));
  const open = ({ id, tokens }: UpstreamLinkRow): UpstreamTokens | undefined =>
    tokens && openTokens(id, tokens);

  /** Returns the tokens of a login, with the stored refresh token if it has none. */
  function complete({ identity, tokens, present }: UpstreamLogin): UpstreamTokens {
    const isSame = present?.issuer === identity.issuer && present.subject === identity.subject;
    if (tokens.refreshToken !== undefined || !present || !isSame) return tokens;
    const refreshToken = open(present)?.refreshToken;
    return refreshToken === undefined ? tokens : { ...tokens, refreshToken };
  }

  return {
    changesOfLogin(login) {
      const { upstream, accountId, identity, sid, present } = login;
      const { issuer, subject } = identity;
      const linkId = present?.id ?? `link_${randomUUID()}`;
      const sessionId = `ups_${randomUUID()}`;
      const tokens = complete(login);
      const at = now();
      return {
        sessionId,
        changes: [
          {
            type: 'putUpstreamLink',
            id: linkId,
            accountId,
            upstream: upstream.name,
            issuer,
            subject,
            profile: box.seal(JSON.stringify(profileFrom(identity)), profileContext(linkId)),
            tokens: sealTokens(linkId, tokens),
            ...(tokens.expiresAt === undefined ? undefined : { expiresAt: tokens.expiresAt }),
            provedAt: at,
            ...(present ? { ifGeneration: present.generation } : undefined),
            at,
          },
          {
            type: 'addUpstreamSession',
            id: sessionId,
            linkId,
            ...(sid === undefined ? undefined : { sid }),
            at,
          },
        ],
      };
    },
    open,
    profileOf: ({ id, profile }) =>
      JSON.parse(box.open(profile, profileContext(id))) as Record<string, unknown>,
    sealTokens,
    openTokens,
  };
}
