import { compactVerify, decodeProtectedHeader, importJWK, type JWK } from 'jose';
import type { Context } from 'koa';
import type { AccessToken, ClientCredentials, Configuration, KoaContextWithOIDC } from 'oidc-provider';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret } from '../../crypto/secret.ts';
import { accessTokenRetentionSeconds } from '../../storage/artifacts.ts';
import { grantKey, payloadContext } from '../engine/stored-rows.ts';
import { currentWriteSet } from '../engine/write-set.ts';
import { isExchanged } from '../token-exchange/actor.ts';

/** Options for reading the JWT access tokens of this installation. */
export interface OwnJwtOptions {
  issuer: string;
  /** Private or public JWKs that sign tokens, or did; read for each token, so the list may change. */
  signing: readonly JWK[];
}

/** Longest token looked at, in characters. */
const maxLength = 8192;

/** Longest `jti` that we write, with room. */
const maxIdLength = 128;

/** The name under which an access token that is a JWT is stored; nobody who has its `jti` can present that as a token. */
export function jwtTokenId(jti: string): string {
  return hashSecret('JwtAccessToken', jti);
}

/** Returns true if a token has the form of a JWT. Opaque tokens of ours have no dots. */
export function looksLikeJwt(token: string): boolean {
  return token.includes('.');
}

/**
 * Returns the name under which an access token is stored that this installation signed as a JWT, expired or not. Type,
 * algorithm and key are looked at before anything is verified, and keys come from our own list alone, whatever the
 * header points to (T-098, T-099, T-100).
 * @returns undefined for every other token
 * @see RFC 9068 section 4; RFC 8725 sections 3.1, 3.9 and 3.11
 */
export async function readOwnJwt(
  token: string,
  { issuer, signing }: OwnJwtOptions,
): Promise<string | undefined> {
  if (token.length > maxLength) return undefined;
  try {
    const { typ, alg, kid, crit } = decodeProtectedHeader(token);
    if (typ !== 'at+jwt' || alg !== 'ES256' || crit !== undefined) return undefined;
    const jwk = signing.find((known) => known.kid === kid);
    if (!jwk || kid === undefined) return undefined;
    const { kty, crv, x, y } = jwk;
    const key = await importJWK({ kty, crv, x, y } as JWK, 'ES256');
    const { payload } = await compactVerify(token, key, { algorithms: ['ES256'] });
    const { iss, jti }: Record<string, unknown> = JSON.parse(new TextDecoder().decode(payload));
    if (iss !== issuer || typeof jti !== 'string' || jti.length > maxIdLength) return undefined;
    return jwtTokenId(jti);
  } catch {
    return undefined;
  }
}

/**
 * Returns a token that the engine did not handle: it declined a JWT after it had authenticated the client and checked
 * the parameters, or it did not know the token.
 * @returns the client of the request and the token; undefined if the engine's response is final
 * @see RFC 7009 section 2.2.1 (`unsupported_token_type`)
 */
export function tokenLeftToUs(ctx: Context): { clientId: string; method: string; token: string } | undefined {
  const { oidc } = ctx as Partial<KoaContextWithOIDC>;
  const { error, active } = Object(ctx.body) as { error?: unknown; active?: unknown };
  const token = oidc?.params?.token;
  const isLeft =
    ctx.status === 200 ? active !== true : ctx.status === 400 && error === 'unsupported_token_type';
  if (!isLeft || !oidc?.client || typeof token !== 'string') return undefined;
  const { clientId, clientAuthMethod } = oidc.client;
  return { clientId, method: String(clientAuthMethod), token };
}

/** @returns the token that the engine has just called active; undefined if it has not */
export function activeToken(ctx: Context): string | undefined {
  const { active } = Object(ctx.body) as { active?: unknown };
  const token = (ctx as Partial<KoaContextWithOIDC>).oidc?.params?.token;
  return active === true && typeof token === 'string' ? token : undefined;
}

type Customizer = NonNullable<NonNullable<NonNullable<Configuration['formats']>['customizers']>['jwt']>;

const kind = 'AccessToken';

/**
 * Creates the engine's customizer of JWT access tokens, called before the signature. The engine never stores such a
 * token, so the customizer writes a row for it in the commit of its request, like that of an opaque token: it goes
 * with the grant, the client and the account, and tells whether the token still stands.
 */
export function createJwtRecorder(box: SealedBox): Customizer {
  return (_ctx, token, { payload }) => {
    const writes = currentWriteSet();
    if (!writes) throw new Error('a JWT was issued outside of a request');
    const { jti, iat, exp, scope, aud, act, auth_time, amr } = payload;
    if (typeof jti !== 'string' || typeof exp !== 'number') throw new TypeError('a JWT has an id and an end');
    const id = jwtTokenId(jti);
    const { accountId, grantId, jkt, clientId } = token as Partial<AccessToken & ClientCredentials>;
    const record = {
      format: 'jwt',
      jti,
      iat,
      exp,
      scope,
      aud,
      clientId,
      accountId,
      grantId,
      jkt,
      extra: { act, auth_time, amr },
    };
    writes.put(
      {
        type: 'put',
        kind,
        id,
        payload: box.seal(JSON.stringify(record), payloadContext(kind, id)),
        expiresAt: exp + accessTokenRetentionSeconds,
        ...(grantId === undefined ? undefined : { grantId: grantKey(grantId) }),
        ...(clientId !== undefined && (grantId === undefined || isExchanged(token))
          ? { clientId }
          : undefined),
      },
      'none',
    );
  };
}
