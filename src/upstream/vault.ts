import { randomUUID } from 'node:crypto';
import type { SealedBox } from '../crypto/sealed-box.ts';
import type { UpstreamChange, UpstreamLinkRow } from '../storage/upstreams.ts';
import type { Upstream, UpstreamIdentity, UpstreamTokens } from './upstream.ts';

/** Somebody who has logged in at an upstream, and the account they are here. */
export interface UpstreamLogin {
  upstream: Pick<Upstream, 'name'>;
  accountId: string;
  identity: UpstreamIdentity;
  tokens: UpstreamTokens;
  /** The upstream's own name of the login. */
  sid?: string | undefined;
  /** What is held for the account at this upstream; undefined where nothing is. */
  present?: UpstreamLinkRow | undefined;
}

/** Keeps what upstreams give us for people, sealed (T-094). */
export interface Vault {
  /**
   * Gives what has to be written when somebody has logged in: their tokens as the next generation, and the login there.
   * A login without a refresh token keeps the one that is held for the same subject (AS-4).
   * @returns the changes in their order, and the id of the upstream session they add
   */
  changesOfLogin(login: UpstreamLogin): { changes: UpstreamChange[]; sessionId: string };
  /** Opens the tokens of a link; undefined where none are held. @throws SealBroken where no key opens them */
  open(link: UpstreamLinkRow): UpstreamTokens | undefined;
  /** Opens what the upstream said of the person. @throws SealBroken where no key opens it */
  profileOf(link: UpstreamLinkRow): Readonly<Record<string, unknown>>;
  /** Seals tokens for the row of a link. */
  sealTokens(linkId: string, tokens: UpstreamTokens): Uint8Array;
  /** Opens tokens that were sealed for the row of a link. @throws SealBroken where no key opens them */
  openTokens(linkId: string, sealed: Uint8Array): UpstreamTokens;
}

/** What sealed tokens of a link are tied to. */
const tokensContext = (linkId: string): string => `UpstreamTokens:${linkId}`;

/** What the sealed profile of a link is tied to. */
const profileContext = (linkId: string): string => `UpstreamProfile:${linkId}`;

/** What is kept of an identity: its claims, and what of it we made sure of. */
function profileFrom({ claims, email, name }: UpstreamIdentity): Record<string, unknown> {
  const { email: _claimed, ...others } = claims;
  return {
    ...others,
    ...(email === undefined ? undefined : { email }),
    ...(name === undefined ? undefined : { name }),
  };
}

/** Creates the vault. @param now epoch seconds */
export function createVault(box: SealedBox, now: () => number): Vault {
  const openTokens = (linkId: string, sealed: Uint8Array): UpstreamTokens =>
    JSON.parse(box.open(sealed, tokensContext(linkId))) as UpstreamTokens;
  const sealTokens = (linkId: string, tokens: UpstreamTokens): Uint8Array =>
    box.seal(JSON.stringify(tokens), tokensContext(linkId));
  const open = ({ id, tokens }: UpstreamLinkRow): UpstreamTokens | undefined =>
    tokens && openTokens(id, tokens);

  /** The tokens of a login, with the refresh token that is held where it brought none. */
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
