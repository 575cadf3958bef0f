import type { AccessToken, ClientCredentials, Configuration, KoaContextWithOIDC } from 'oidc-provider';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { accessTokenRetentionSeconds } from '../../storage/artifacts.ts';
import { grantKey, payloadContext } from '../engine/stored-names.ts';
import { currentWriteSet } from '../engine/write-set.ts';
import { isExchanged } from '../token-exchange/actor.ts';
import { jwtTokenId } from './own-jwt.ts';

type Customizer = NonNullable<NonNullable<NonNullable<Configuration['formats']>['customizers']>['jwt']>;

const kind = 'AccessToken';

/**
 * What happens to an access token that is issued as a JWT, before it is signed. The engine never stores one (F3), so a
 * row is written for it in the commit of its request, like that of an opaque token: it goes with the grant, the client
 * and the account, and tells whether the token still stands. And the token says when its person logged in.
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

/** When the person logged in whose code or refresh token is redeemed, epoch seconds. */
function loginTime(ctx: KoaContextWithOIDC): number | undefined {
  const { AuthorizationCode, RefreshToken, DeviceCode } = ctx.oidc.entities;
  return (AuthorizationCode ?? RefreshToken ?? DeviceCode)?.authTime;
}
