import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret } from '../../crypto/secret.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import { openPayload } from '../engine/stored-names.ts';
import { isInGrace, successorOf, type WithSuccessor } from '../engine/successors.ts';
import type { RefreshAttempt, TokenAnswer } from './refresh-answer.ts';

/**
 * Gives the answer to a refresh token that was used a moment ago and followed by its own successors: they are in the
 * answer, and what else is in it stands in their rows.
 * @param id hashed refresh token
 * @param attempt what this attempt would have got: the first answer is given only where it is for the same scopes and no
 *   key was proved, as successors are bearer tokens
 * @returns the first answer with its remaining life; 'other_scopes' or 'other_key' where it is for others than this
 *   attempt; undefined where the window is over, or it was not followed by them, or they were revoked
 */
export async function findSuccessorAnswer(
  artifacts: ArtifactStore,
  box: SealedBox,
  id: string,
  attempt: RefreshAttempt,
  nowSeconds: number,
  graceSeconds: number,
): Promise<TokenAnswer | 'other_scopes' | 'other_key' | undefined> {
  const used = await artifacts.find('RefreshToken', id);
  if (used?.consumedAt === undefined || !isInGrace(used.consumedAt, nowSeconds, graceSeconds))
    return undefined;
  const { successorsAtMs } = used;
  const { successor } = openPayload<WithSuccessor>(box, 'RefreshToken', used);
  if (successor === undefined || successorsAtMs === undefined) return undefined;
  const refreshToken = successorOf('RefreshToken', successor, successorsAtMs);
  if (!(await artifacts.find('RefreshToken', hashSecret('RefreshToken', refreshToken)))) return undefined;
  if (attempt.keyThumbprint !== undefined) return 'other_key';
  const accessToken = successorOf('AccessToken', successor, successorsAtMs);
  const row = await artifacts.find('AccessToken', hashSecret('AccessToken', accessToken));
  // One that has expired may be gone: then nothing can be done with it, whatever its scopes were.
  const { scope, exp } = row
    ? openPayload<{ scope: string; exp: number }>(box, 'AccessToken', row)
    : { scope: attempt.answer.scope, exp: nowSeconds };
  if (scope !== attempt.answer.scope) return 'other_scopes';
  return {
    access_token: accessToken,
    expires_in: Math.max(1, exp - nowSeconds),
    refresh_token: refreshToken,
    ...(scope === undefined ? undefined : { scope }),
    token_type: 'Bearer',
  };
}
