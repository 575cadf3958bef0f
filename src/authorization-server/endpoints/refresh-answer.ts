import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { ArtifactStore, PutArtifact } from '../../storage/artifacts.ts';
import { openPayload, payloadContext } from '../engine/stored-names.ts';

const kind = 'RefreshAnswer';

/** A successful answer of the token endpoint (RFC 6749 section 5.1). */
export interface TokenAnswer {
  access_token: string;
  token_type: string;
  expires_in: number;
  refresh_token?: string;
  scope?: string;
  [member: string]: unknown;
}

/** What an attempt to refresh would have got, and the key it proved to hold. */
export interface RefreshAttempt {
  answer: TokenAnswer;
  keyThumbprint: string | undefined;
}

interface KeptAnswer {
  answer: TokenAnswer;
  issuedAt: number;
  /** The key its access token is bound to. */
  keyThumbprint?: string;
}

/**
 * The change that keeps the answer to a refresh, sealed, for the clients that ask the same again within the grace
 * window (several processes of one install, or an answer lost on the way). It shares the commit of the rotation.
 * @param id hashed refresh token that was used
 * @param grantId hashed grant; revoking it removes the answer as well
 */
export function keepAnswer(
  box: SealedBox,
  {
    id,
    grantId,
    answer,
    keyThumbprint,
    nowSeconds,
    graceSeconds,
  }: {
    id: string;
    grantId: string;
    answer: TokenAnswer;
    /** The key the access token of the answer is bound to. */
    keyThumbprint: string | undefined;
    nowSeconds: number;
    graceSeconds: number;
  },
): PutArtifact {
  const kept: KeptAnswer = {
    answer,
    issuedAt: nowSeconds,
    ...(keyThumbprint === undefined ? undefined : { keyThumbprint }),
  };
  return {
    type: 'put',
    kind,
    id,
    grantId,
    payload: box.seal(JSON.stringify(kept), payloadContext(kind, id)),
    expiresAt: nowSeconds + graceSeconds,
  };
}

/**
 * Gives the kept answer to a refresh token that was used a moment ago.
 * @param attempt what this attempt would have got: the kept answer is given only where it is for the same scopes and bound
 *   to the same key
 * @returns the first answer with its remaining life; 'other_scopes' or 'other_key' where it is for others than this
 *   attempt; undefined where there is none any more
 */
export async function findAnswer(
  artifacts: ArtifactStore,
  box: SealedBox,
  id: string,
  attempt: RefreshAttempt,
  nowSeconds: number,
): Promise<TokenAnswer | 'other_scopes' | 'other_key' | undefined> {
  const row = await artifacts.find(kind, id);
  if (!row || row.expiresAt <= nowSeconds) return undefined;
  const kept = openPayload<KeptAnswer>(box, kind, row);
  const { answer, issuedAt } = kept;
  if (kept.keyThumbprint !== attempt.keyThumbprint) return 'other_key';
  if (answer.scope !== attempt.answer.scope) return 'other_scopes';
  return { ...answer, expires_in: Math.max(1, answer.expires_in - (nowSeconds - issuedAt)) };
}
