import type { Context } from 'koa';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret, keyedDigest } from '../../crypto/secret.ts';
import type { ArtifactStore, PutArtifact } from '../../storage/artifacts.ts';
import { grantKey, openPayload, payloadContext } from '../engine/stored-rows.ts';

/**
 * Differences between a repeated use of a refresh token and its first use. Undefined if one of the two values is not
 * known.
 */
export interface RepeatDifference {
  /** True if the addresses differ; IPv6 addresses are compared by their /64. */
  address: boolean | undefined;
  /** True if the `User-Agent` differs: another program, or another version of it. */
  userAgent: boolean | undefined;
}

/** Characters kept of a digest: 96 bits. */
const digestLength = 16;

/** Stands for an address that is not known. */
const unknown = '-';

function digestsOf(ctx: Context, id: string, key: string): [address: string, userAgent: string] {
  const address: unknown = ctx.state.clientAddress;
  const isKnown = typeof address === 'string' && address !== 'unknown';
  const digest = (...parts: string[]): string =>
    keyedDigest(key, 'refresh source', id, ...parts).slice(0, digestLength);
  return [
    isKnown ? digest('address', address) : unknown,
    digest('user agent', ctx.req.headers['user-agent'] ?? ''),
  ];
}

/**
 * Describes the source of a refresh request, for a later {@link compareSource}. The digests are keyed, and differ for
 * each token: they reveal no address and cannot link two rows (FA-10, T-213).
 * @param id hashed refresh token
 * @param keys digest keys, the newest first
 */
export function describeSource(ctx: Context, id: string, [key = '']: readonly string[]): string {
  return digestsOf(ctx, id, key).join(' ');
}

/**
 * Compares a repeated use of a refresh token with the first use.
 * @param usedFrom what {@link describeSource} returned at the first use; undefined for one from before that was kept
 * @param keys all of which the first use may have been described with
 */
export function compareSource(
  ctx: Context,
  id: string,
  usedFrom: string | undefined,
  keys: readonly string[],
): RepeatDifference {
  const [address, userAgent] = usedFrom?.split(' ') ?? [];
  const now = keys.map((key) => digestsOf(ctx, id, key));
  const differs = (first: string | undefined, at: 0 | 1): boolean | undefined =>
    first === undefined || first === unknown || now.some((digests) => digests[at] === unknown)
      ? undefined
      : !now.some((digests) => digests[at] === first);
  return { address: differs(address, 0), userAgent: differs(userAgent, 1) };
}

const tokenKind = 'RefreshToken';
const answerKind = 'RefreshAnswer';

/** The fields of the engine's refresh token that are read here. */
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
 * Ends the grant if the client of a used refresh token sends it again after it has expired. The engine rejects an
 * expired token for its age and does not check whether it was used (RFC 9700 section 4.14.2; T-044). An unused expired
 * token ends nothing, and neither does a token that is bound to a key if the request lacks that key.
 * @param clientId the authenticated client; undefined if none
 * @param nowSeconds epoch seconds
 * @returns the account whose grant was ended; undefined if none was
 */
export async function endExpiredFamily(
  artifacts: ArtifactStore,
  box: SealedBox,
  refreshToken: string,
  clientId: string | undefined,
  nowSeconds: number,
): Promise<{ accountId: string } | undefined> {
  const id = hashSecret(tokenKind, refreshToken);
  const row = await artifacts.find(tokenKind, id);
  if (row?.consumedAt === undefined) return undefined;
  const issued = openPayload<IssuedRefreshToken>(box, tokenKind, row);
  if (issued.clientId !== clientId || issued.jkt !== undefined || issued.exp > nowSeconds) return undefined;
  await artifacts.revokeGrant(grantKey(issued.grantId));
  return { accountId: issued.accountId };
}

/** A successful answer of the token endpoint (RFC 6749 section 5.1). */
export interface TokenAnswer {
  access_token: string;
  token_type: string;
  expires_in: number;
  refresh_token?: string;
  scope?: string;
  [member: string]: unknown;
}

/** Scopes that a refresh attempt would get, and the key that it proved. */
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
 * Returns the change that stores the response to a refresh, sealed, in the commit of the rotation. A client that
 * repeats the request within the grace window gets this response: several processes of one client may refresh at once,
 * or a response may be lost.
 * @param id hash of the used refresh token
 * @param grantId hash of the grant; its revocation also deletes the response
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
    kind: answerKind,
    id,
    grantId,
    payload: box.seal(JSON.stringify(kept), payloadContext(answerKind, id)),
    expiresAt: nowSeconds + graceSeconds,
  };
}

/**
 * Finds the stored response to a refresh token that was used a moment ago.
 * @param attempt the stored response is returned only if it has the same scopes and is bound to the same key
 * @returns the first response with its remaining lifetime; 'other_scopes' or 'other_key' if it does not match the
 *   attempt; undefined if it is no longer stored
 */
export async function findAnswer(
  artifacts: ArtifactStore,
  box: SealedBox,
  id: string,
  attempt: RefreshAttempt,
  nowSeconds: number,
): Promise<TokenAnswer | 'other_scopes' | 'other_key' | undefined> {
  const row = await artifacts.find(answerKind, id);
  if (!row || row.expiresAt <= nowSeconds) return undefined;
  const kept = openPayload<KeptAnswer>(box, answerKind, row);
  const { answer, issuedAt } = kept;
  if (kept.keyThumbprint !== attempt.keyThumbprint) return 'other_key';
  if (answer.scope !== attempt.answer.scope) return 'other_scopes';
  return { ...answer, expires_in: Math.max(1, answer.expires_in - (nowSeconds - issuedAt)) };
}
