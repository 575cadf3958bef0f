import type { Context } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret, keyedDigest } from '../../crypto/secret.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import { grantKey, openPayload } from '../engine/stored-names.ts';
import type { ResourceRegistry } from '../resources.ts';
import { answerWithOAuthError } from './oauth-answer.ts';

/** How a repeated use of a refresh token differs from the first. Undefined where one of the two is not known. */
export interface RepeatDifference {
  /** Whether it comes from another address; an IPv6 address is compared by its /64. */
  address: boolean | undefined;
  /** Whether the client calls itself otherwise (`User-Agent`): another program, or another version of it. */
  userAgent: boolean | undefined;
}

/** Characters kept of a digest: 96 bits. */
const digestLength = 16;

/** What stands in the place of an address that is not known: nothing is said of it. */
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
 * Describes where a refresh token is used from, for a later {@link compareSource}. The digests are keyed and of this token
 * alone: neither are they addresses, nor can two rows be linked by them (FA-10, T-213).
 * @param id hashed refresh token
 * @param keys of digests, the newest first
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

/**
 * Refuses, in place of the engine's answer, to give out a bearer token for a resource that takes only tokens that are
 * bound to a key: the client learns here what it has to do, and has lost nothing.
 * @see RFC 9449 sections 5 and 7.1; RFC 9728 section 2 `dpop_bound_access_tokens_required` (A13-09)
 */
export function refuseUnboundToken(ctx: Context, resources: ResourceRegistry): void {
  const { AccessToken, ClientCredentials } = (ctx as Partial<KoaContextWithOIDC>).oidc?.entities ?? {};
  const token = AccessToken ?? ClientCredentials;
  if (ctx.status !== 200 || !token || token.jkt !== undefined) return;
  if (!resources.find(String(token.aud))?.dpopRequired) return;
  answerWithOAuthError(
    ctx,
    400,
    'invalid_dpop_proof',
    'this resource takes only access tokens that are bound to a key: send a DPoP proof',
  );
}

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
