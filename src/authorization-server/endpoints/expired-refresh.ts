import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret } from '../../crypto/secret.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import { grantKey, openPayload } from '../engine/stored-names.ts';

const kind = 'RefreshToken';

/** What the engine keeps of a refresh token. */
interface IssuedRefreshToken {
  clientId: string;
  accountId: string;
  grantId: string;
  /** Epoch seconds. */
  exp: number;
  /** The key it is bound to (RFC 9449). */
  jkt?: string;
}

/**
 * Ends the grant of a refresh token that was used and that its own client sends again when it has expired. The engine
 * refuses it for its age and no longer looks whether it was used (RFC 9700 section 4.14.2; T-044). One that was never
 * used has just grown old, and one that is bound to a key proves nothing without that key: neither ends anything.
 * @param clientId the client, authenticated; undefined where it was not
 * @param nowSeconds epoch seconds
 * @returns whose grant was ended; undefined where none was
 */
export async function endExpiredFamily(
  artifacts: ArtifactStore,
  box: SealedBox,
  refreshToken: string,
  clientId: string | undefined,
  nowSeconds: number,
): Promise<{ accountId: string } | undefined> {
  const id = hashSecret(kind, refreshToken);
  const row = await artifacts.find(kind, id);
  if (row?.consumedAt === undefined) return undefined;
  const issued = openPayload<IssuedRefreshToken>(box, kind, row);
  if (issued.clientId !== clientId || issued.jkt !== undefined || issued.exp > nowSeconds) return undefined;
  await artifacts.revokeGrant(grantKey(issued.grantId));
  return { accountId: issued.accountId };
}
