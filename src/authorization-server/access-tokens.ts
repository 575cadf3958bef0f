import { setBounded } from '../collections/caches.ts';
import type { SealedBox } from '../crypto/sealed-box.ts';
import { hashSecret } from '../crypto/secret.ts';
import type { Actor, CallerDetails } from '../oauth/auth-info.ts';
import { parseScope } from '../oauth/scope.ts';
import type { AccessTokenRow } from '../storage/artifacts.ts';
import type { Storage } from '../storage/storage.ts';
import type { UpstreamBond } from '../storage/upstreams.ts';
import { openPayload } from './engine/stored-rows.ts';
import { looksLikeJwt, type OwnJwtOptions, readOwnJwt } from './jwt/own-jwt.ts';
import type { LoginClaims } from './token-exchange/actor.ts';

/** An access token as this installation issued it. */
export interface IssuedAccessToken {
  clientId: string;
  /** The account, or the client itself if it acts for itself (RFC 6749 section 4.4). */
  subject: string;
  scopes: readonly string[];
  audience: string;
  /** Epoch seconds. */
  issuedAt: number;
  /** Epoch seconds. */
  expiresAt: number;
  /** The consent it hangs on; a client that acts for itself has none. */
  grantId?: string;
  /** The upstream login that the consent depends on; absent if there is none. */
  bond?: UpstreamBond;
  /** The name under which it is stored; never the token. */
  tokenId: string;
  /** The party that acts for the subject; absent if there is none (RFC 8693 section 4.1). */
  actor?: Actor;
  /** The key it is bound to, by its JWK thumbprint; absent for a bearer token. */
  keyThumbprint?: string;
  /** The login of the account in which it allowed the client; absent if there was none. */
  login?: LoginClaims;
  /** Data for MCP servers; see `describeCallers`. */
  details?: CallerDetails;
}

/** Access tokens, for the resource server of the same process. */
export interface IssuedAccessTokens {
  /** Returns what was issued as this token, opaque or a JWT, expired or not; undefined if there is no such token. */
  find(token: string): Promise<IssuedAccessToken | undefined>;
  /** Returns those of these tokens that were not revoked, expired or not, by the names under which they are stored. */
  standing(tokenIds: readonly string[]): Promise<readonly string[]>;
  /** Returns a mark: as long as it stays the same, no token was revoked, by whichever process. */
  revocationMark(): Promise<number>;
}

const kind = 'AccessToken';

/** The fields of a stored token that are read here; written by the engine, or by Gatehouse for a JWT. */
interface StoredToken {
  clientId: string;
  accountId?: string;
  scope?: string;
  aud: string;
  iat: number;
  exp: number;
  grantId?: string;
  jkt?: string;
  extra?: { act?: Actor } & LoginClaims;
}

/** A token that was unsealed, and when its row was last seen. */
interface OpenedToken {
  mark: number;
  revision: number;
  token: IssuedAccessToken;
}

/**
 * Maximum number of cached tokens, about 1 KB each. The cache is keyed by hash: no token stays in memory after its
 * request.
 */
const maxOpened = 10_000;

/**
 * Finds access tokens for the resource server of the same process. A revoked token is deleted with its row, so every
 * process on the database rejects it as soon as the revocation is durable (T-103). An unsealed row is cached, and
 * used only as long as the database says that no row was removed or changed since. This also holds for JWTs: a valid
 * signature leads to the row, and the row decides. The login at an upstream that the grant depends on is read with the
 * row.
 */
export function createAccessTokenSource(
  { artifacts }: Pick<Storage, 'artifacts'>,
  box: SealedBox,
  jwt: OwnJwtOptions,
): IssuedAccessTokens {
  const opened = new Map<string, OpenedToken>();

  function open(row: AccessTokenRow): IssuedAccessToken {
    const payload = openPayload<StoredToken>(box, kind, row);
    const { auth_time, amr } = payload.extra ?? {};
    return {
      clientId: payload.clientId,
      subject: payload.accountId ?? payload.clientId,
      scopes: parseScope(payload.scope),
      audience: payload.aud,
      issuedAt: payload.iat,
      expiresAt: payload.exp,
      ...(payload.grantId === undefined ? undefined : { grantId: payload.grantId }),
      ...(row.bond ? { bond: row.bond } : undefined),
      tokenId: row.id,
      ...(payload.extra?.act === undefined ? undefined : { actor: payload.extra.act }),
      ...(payload.jkt === undefined ? undefined : { keyThumbprint: payload.jkt }),
      ...(auth_time === undefined && amr === undefined
        ? undefined
        : { login: { ...(auth_time !== undefined && { auth_time }), ...(amr !== undefined && { amr }) } }),
    };
  }

  async function read(
    id: string,
    known: OpenedToken | undefined,
    mark: number,
  ): Promise<IssuedAccessToken | undefined> {
    if (known && (await artifacts.findRevision(kind, id)) === known.revision) {
      known.mark = mark;
      return known.token;
    }
    opened.delete(id);
    const row = await artifacts.findAccessToken(id);
    if (!row) return undefined;
    const found = open(row);
    setBounded(opened, id, { mark, revision: row.revision, token: found }, maxOpened);
    return found;
  }

  return {
    async find(token) {
      const id = looksLikeJwt(token) ? await readOwnJwt(token, jwt) : hashSecret(kind, token);
      if (id === undefined) return undefined;
      const known = opened.get(id);
      // The mark is read before the row: a row that is removed in between changes the next mark.
      const mark = await artifacts.removalMark(kind);
      return known?.mark === mark ? known.token : read(id, known, mark);
    },
    standing: (tokenIds) => artifacts.filterPresent(kind, tokenIds),
    revocationMark: async () => artifacts.removalMark(kind),
  };
}
