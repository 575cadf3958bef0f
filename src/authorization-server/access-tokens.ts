import type { SealedBox } from '../crypto/sealed-box.ts';
import { hashSecret } from '../crypto/secret.ts';
import { parseScope } from '../oauth/scope.ts';
import type { ArtifactStore } from '../storage/artifacts.ts';
import { payloadContext } from './engine/adapter.ts';

/** An access token as this installation issued it. */
export interface IssuedAccessToken {
  clientId: string;
  /** The account. */
  subject: string;
  scopes: string[];
  audience: string;
  /** Epoch seconds. */
  issuedAt: number;
  /** Epoch seconds. */
  expiresAt: number;
  grantId: string;
}

const kind = 'AccessToken';

/**
 * Finds access tokens for the resource server of the same process. A revoked one is gone with its row, so it is
 * refused from the moment the revocation is durable, in every process on the database (F3, T-103).
 */
export function createAccessTokenSource(artifacts: ArtifactStore, box: SealedBox) {
  return {
    /** Gives what was issued under this token value, expired or not; undefined where there is no such token. */
    async find(token: string): Promise<IssuedAccessToken | undefined> {
      const id = hashSecret(kind, token);
      const row = await artifacts.find(kind, id);
      if (!row) return undefined;
      const payload = JSON.parse(box.open(row.payload, payloadContext(kind, id)));
      return {
        clientId: String(payload.clientId),
        subject: String(payload.accountId),
        scopes: parseScope(payload.scope),
        audience: String(payload.aud),
        issuedAt: Number(payload.iat),
        expiresAt: Number(payload.exp),
        grantId: String(payload.grantId),
      };
    },
  };
}
