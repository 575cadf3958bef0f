import type { AccessToken, ClientCredentials, Configuration, KoaContextWithOIDC } from 'oidc-provider';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { accessTokenRetentionSeconds } from '../../storage/artifacts.ts';
import { grantKey, payloadContext } from '../engine/stored-rows.ts';
import { currentWriteSet } from '../engine/write-set.ts';
import { isExchanged } from '../token-exchange/actor.ts';
import { jwtTokenId } from './own-jwt.ts';

type Customizer = NonNullable<NonNullable<NonNullable<Configuration['formats']>['customizers']>['jwt']>;

const kind = 'AccessToken';

/**
 * Creates the engine's customizer of JWT access tokens, called before the signature. The engine never stores such a
 * token, so the customizer writes a row for it in the commit of its request, like that of an opaque token: it goes
 * with the grant, the client and the account, and tells whether the token still stands. It also adds the time of the
 * user's login to the token.
 * @see RFC 9068 section 2.2.1 (`auth_time`)
 */
export function createJwtRecorder(box: SealedBox): Customizer {
  return (ctx, token, { payload }) => {
    const writes = currentWriteSet();
    if (!writes) throw new Error('a JWT was issued outside of a request');
    const { jti, iat, exp, scope, aud, act } = payload;
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
      extra: { act },
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
    const authTime = loginTime(ctx);
    if (authTime !== undefined && accountId !== undefined) payload.auth_time = authTime;
  };
}

/** Returns the login time of the user whose code or refresh token is redeemed, epoch seconds. */
function loginTime(ctx: KoaContextWithOIDC): number | undefined {
  const { AuthorizationCode, RefreshToken, DeviceCode } = ctx.oidc.entities;
  return (AuthorizationCode ?? RefreshToken ?? DeviceCode)?.authTime;
}
