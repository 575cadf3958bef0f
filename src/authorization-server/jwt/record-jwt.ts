import type { AccessToken, ClientCredentials, Configuration } from 'oidc-provider';
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
