import { createHash } from 'node:crypto';
import type { Context, Next } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret } from '../../crypto/secret.ts';
import { formatScope, parseScope, personalScopes, tidyScope } from '../../oauth/scope.ts';
import type { ArtifactStore, Conflict } from '../../storage/artifacts.ts';
import type { AuditLog } from '../audit.ts';
import { deviceGrantType } from '../client-metadata.ts';
import type { RefreshLoops, TokenLimit } from '../endpoint-limits/token-limit.ts';
import { grantKey, isInGrace, openPayload } from '../engine/stored-rows.ts';
import { commitWrites, type WriteSet } from '../engine/write-set.ts';
import { canonicalizeResources, type ResourceRegistry } from '../resources.ts';
import { tolerate } from '../tolerances.ts';
import { answerRepeatedProof, answerRepeatedUse, repeatedProof, usedOnceKind } from './client-assertion.ts';
import { answerWithOAuthError, noteReason } from './endpoint-guards.ts';
import { readFormBody, replayForm } from './form-body.ts';
import {
  compareSource,
  describeSource,
  endExpiredFamily,
  findAnswer,
  keepAnswer,
  type TokenAnswer,
} from './refresh-source.ts';

/** `allow` gives the first answer again, `end` ends the grant. */
export type RepeatFromOtherAddress = 'allow' | 'end';

/** Options of the token endpoint. */
export interface TokenEndpointOptions {
  artifacts: ArtifactStore;
  box: SealedBox;
  resources: ResourceRegistry;
  audit: AuditLog;
  /** Epoch seconds. */
  now: () => number;
  refreshGraceSeconds: number;
  /** Handling of a used refresh token that is sent again from another address within the grace window. */
  repeatFromOtherAddress: RepeatFromOtherAddress;
  /** Keys of the digests of where a refresh token was used from; the first makes them, all are tried. */
  sourceKeys: readonly string[];
  tokenLimit: TokenLimit;
  refreshLoops: RefreshLoops;
}

/** The key that the access token of an answer is bound to; undefined for a bearer token. */
function issuedKey(ctx: Context): string | undefined {
  return (ctx as Partial<KoaContextWithOIDC>).oidc?.entities.AccessToken?.jkt;
}

/** Row kinds that only the first of several concurrent logins of a new user may write. */
const entryKinds = new Set(['Account', 'Identity']);

/** Answers who came in as the same new person at the same moment: nothing was used up. */
function answerEntryRace(ctx: Context): void {
  ctx.set('Retry-After', '1');
  answerWithOAuthError(
    ctx,
    503,
    'temporarily_unavailable',
    'this person was let in for the first time at the same moment; send the assertion again',
  );
}

/** Answers a refresh token that was used a moment ago, but not for the same. */
function answerUsedOtherwise(ctx: Context, error: string, reason: string): void {
  noteReason(ctx, reason);
  answerWithOAuthError(ctx, 400, error, `this ${reason}; use its successor`);
}

/** Descriptions for requests that lost a race at their commit. */
const lostRaces: Readonly<Record<Conflict['reason'], string>> = {
  consumed: 'another request used it up at the same moment',
  missing: 'it was ended at the same moment',
  changed: 'another request changed it at the same moment',
  present: 'another request made it at the same moment',
  orphan: 'what it hangs on was ended at the same moment',
};

/**
 * Responds `unauthorized_client` if a client may not use a grant type that other clients may use; the engine responds
 * `invalid_request` (RFC 6749 section 5.2).
 */
function nameUnauthorizedGrant(ctx: Context): void {
  const { client, params } = (ctx as Partial<KoaContextWithOIDC>).oidc ?? {};
  const { error } = ctx.body as { error?: string };
  if (error !== 'invalid_request' || typeof params?.grant_type !== 'string') return;
  if (client?.grantTypeAllowed(params.grant_type) === false)
    answerWithOAuthError(
      ctx,
      400,
      'unauthorized_client',
      'this client is not registered for this grant type',
    );
}

/**
 * Refuses, in place of the engine's answer, to give out a bearer token for a resource that takes only tokens that are
 * bound to a key: the client learns here what it has to do, and has lost nothing.
 * @see RFC 9449 sections 5 and 7.1; RFC 9728 section 2 `dpop_bound_access_tokens_required` (A13-09)
 */
function refuseUnboundToken(ctx: Context, resources: ResourceRegistry): void {
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

const codeKind = 'AuthorizationCode';
const serverScopes: ReadonlySet<string> = new Set(personalScopes);

/** Kind of the row that each grant type uses up. */
const usedUpBy: ReadonlyMap<string, string> = new Map([
  ['authorization_code', codeKind],
  ['refresh_token', 'RefreshToken'],
  [deviceGrantType, 'DeviceCode'],
]);

/** The fields of the engine's authorization code that are read here. */
interface IssuedCode {
  clientId: string;
  accountId: string;
  grantId: string;
  codeChallenge: string;
  redirectUri?: string;
  used: boolean;
}

/** Maximum number of refused requests (400) with a code; it is deleted at the next (T-035). */
const maxCodeFailures = 5;

/**
 * Redeems authorization codes and refresh tokens: the middleware around the engine's token endpoint (RFC 6749 section
 * 3.2). The engine (`oidc-provider/lib/actions/token.js`, `grants/authorization_code.js`) checks a code in this order: the
 * client authenticates and may use the grant type; `code` and `redirect_uri` are given; the DPoP proof; the code is known,
 * of this client, and has not expired; its grant stands; PKCE; the redirect URI is the same; the code is unused; `resource`.
 *
 * This middleware decides at the commit which of several concurrent requests was first:
 * - a code redeemed twice ends its grant, however close together the two requests came (T-032, T-036);
 * - a refresh token used again within the grace window gets the first response again, with an entry in the audit log;
 *   if it comes from another address, the operator may choose to end the grant (T-213); after the window the grant
 *   ends, also if the token has expired (T-040, T-043, T-044);
 * - a code that fails repeatedly is deleted (T-035);
 * - a client assertion counts once, whatever becomes of the request, and however close together two requests came
 *   (T-049);
 * - a rejected request uses nothing up: the engine consumes a code before it checks `resource` (T-042), and a client
 *   over its limit can try again with the same code;
 * - a client that refreshes repeatedly without an accepted call gets the reason, and is slowed down (FA-20).
 */
export function createTokenEndpoint(options: TokenEndpointOptions) {
  const { artifacts, box, resources, audit, now, refreshGraceSeconds, tokenLimit, sourceKeys } = options;

  function keepRefreshAnswer(ctx: Context, id: string, writes: WriteSet): void {
    if (refreshGraceSeconds === 0) return;
    const grantId = writes.grantOf('RefreshToken', id);
    if (grantId === undefined) return;
    const answer = ctx.body as TokenAnswer;
    const kept = {
      id,
      grantId: grantKey(grantId),
      answer,
      keyThumbprint: issuedKey(ctx),
      nowSeconds: now(),
      graceSeconds: refreshGraceSeconds,
    };
    writes.add(keepAnswer(box, kept));
  }

  /** A client that acts for itself, or exchanges what others gave it, uses up nothing by which its use would be noted. */
  function noteUse(ctx: Context, writes: WriteSet): void {
    const clientId = (ctx as Partial<KoaContextWithOIDC>).oidc?.entities.Client?.clientId;
    if (clientId !== undefined) writes.add({ type: 'useClient', clientId, at: now() });
  }

  async function resolveConflict(ctx: Context, conflict: Conflict, writes: WriteSet): Promise<void> {
    if (conflict.reason === 'consumed' && conflict.kind === 'RefreshToken') {
      const attempt = { answer: ctx.body as TokenAnswer, keyThumbprint: issuedKey(ctx) };
      const answer = await findAnswer(artifacts, box, conflict.id, attempt, now());
      if (answer && (await noteRepeat(ctx, conflict.id, answer)) === 'ended')
        return endReused(ctx, conflict, writes, 'refresh token was just used from another address');
      if (answer === 'other_key')
        return answerUsedOtherwise(ctx, 'invalid_dpop_proof', 'refresh token was just used with another key');
      if (answer === 'other_scopes')
        return answerUsedOtherwise(ctx, 'invalid_scope', 'refresh token was just used for other scopes');
      if (answer) {
        tolerate('repeatedRefresh', 'a refresh token that was just used');
        ctx.body = answer;
        return;
      }
    }
    if (conflict.reason === 'present' && conflict.kind === usedOnceKind)
      return answerRepeatedUse(ctx, conflict.id, writes);
    if (conflict.reason === 'present' && entryKinds.has(conflict.kind)) return answerEntryRace(ctx);
    if (conflict.reason === 'consumed') return endReused(ctx, conflict, writes, lostRaces.consumed);
    noteReason(ctx, lostRaces[conflict.reason]);
    answerWithOAuthError(ctx, 400, 'invalid_grant', 'grant request is invalid');
  }

  async function endReused(
    ctx: Context,
    { kind, id }: Extract<Conflict, { id: string }>,
    writes: WriteSet,
    reason: string,
  ): Promise<void> {
    const grantId = writes.grantOf(kind, id);
    if (grantId !== undefined) await artifacts.revokeGrant(grantKey(grantId));
    audit('token.reuse_detected', ctx, { kind });
    noteReason(ctx, reason);
    answerWithOAuthError(ctx, 400, 'invalid_grant', 'grant request is invalid');
  }

  /** Takes note of a refresh token that was used a moment ago and comes again, and decides what becomes of it (FA-10, T-213). */
  async function noteRepeat(
    ctx: Context,
    id: string,
    answer: TokenAnswer | 'other_key' | 'other_scopes',
  ): Promise<'answered' | 'refused' | 'ended'> {
    const used = await artifacts.find('RefreshToken', id);
    const { address, userAgent } = compareSource(ctx, id, used?.usedFrom, sourceKeys);
    const isEnded = address === true && options.repeatFromOtherAddress === 'end';
    const outcome = isEnded ? 'ended' : typeof answer === 'string' ? 'refused' : 'answered';
    audit('token.repeated', ctx, {
      otherAddress: address === undefined ? undefined : String(address),
      otherInstance:
        answer === 'other_key' ? 'true' : userAgent === undefined ? undefined : String(userAgent),
      outcome,
    });
    return outcome;
  }

  /**
   * A fresh code has few tries. A used one that its own client sends again, verifier and all, ends its grant also after
   * it has expired, when the engine no longer looks whether it was used.
   */
  async function noteFailedCode(ctx: Context, code: string, form: URLSearchParams): Promise<void> {
    const issued = await openCode(code);
    if (!issued?.used) {
      await artifacts.countFailure(codeKind, hashSecret(codeKind, code), maxCodeFailures);
      return;
    }
    const client = (ctx as Partial<KoaContextWithOIDC>).oidc?.entities.Client;
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (issued.clientId !== client?.clientId || issued.codeChallenge !== challenge) return;
    await artifacts.revokeGrant(grantKey(issued.grantId));
    audit('token.reuse_detected', ctx, { kind: codeKind, accountId: issued.accountId });
  }

  /** The engine does not say whose code was used again. */
  async function noteReuse(ctx: Context, grantType: string | null, code: string | null): Promise<void> {
    const victim = code === null ? undefined : (await openCode(code))?.accountId;
    const kind = usedUpBy.get(grantType ?? '');
    audit('token.reuse_detected', ctx, { kind, ...(victim !== undefined && { accountId: victim }) });
  }

  async function noteExpiredRefresh(ctx: Context, refreshToken: string): Promise<void> {
    const client = (ctx as Partial<KoaContextWithOIDC>).oidc?.entities.Client;
    const ended = await endExpiredFamily(artifacts, box, refreshToken, client?.clientId, now());
    if (ended) audit('token.reuse_detected', ctx, { kind: 'RefreshToken', accountId: ended.accountId });
  }

  /** Refreshes that are being answered, by the name of the token that they use. */
  const answering = new Map<string, Promise<void>>();

  /**
   * Notes that a refresh is being answered.
   * @returns the answer of another request with the same token that began before, if there is one; `end` is to be called
   * once the answer is durable
   */
  function beginAnswer(refreshToken: string | null): { before: Promise<void> | undefined; end: () => void } {
    const id = refreshToken === null ? '' : hashSecret('RefreshToken', refreshToken);
    const before = answering.get(id);
    if (refreshToken === null || before) return { before, end: () => undefined };
    const { promise, resolve } = Promise.withResolvers<void>();
    answering.set(id, promise);
    return {
      before,
      end() {
        answering.delete(id);
        resolve();
      },
    };
  }

  /** A refresh that was answered a moment ago, or is being answered, and asks for the same answer issues nothing. */
  async function isRepeated(
    refreshToken: string | null,
    before: Promise<void> | undefined,
  ): Promise<boolean> {
    if (refreshToken === null) return false;
    await before;
    const row = await artifacts.find('RefreshToken', hashSecret('RefreshToken', refreshToken));
    return row?.consumedAt !== undefined && isInGrace(row.consumedAt, now(), refreshGraceSeconds);
  }

  async function openCode(code: string): Promise<IssuedCode | undefined> {
    const id = hashSecret(codeKind, code);
    const row = await artifacts.find(codeKind, id);
    if (!row) return undefined;
    return {
      ...openPayload<Omit<IssuedCode, 'used'>>(box, codeKind, row),
      used: row.consumedAt !== undefined,
    };
  }

  /**
   * Adds the redirect URI of the code if the client sends none: OAuth 2.1 has no such parameter here, as PKCE proves the same.
   * @returns whether anything was changed
   * @see OAuth 2.1 section 4.1.3; RFC 6749 section 3.2 for an empty value (FA-22)
   */
  async function addRedirectUri(form: URLSearchParams, code: string): Promise<boolean> {
    if (form.getAll('redirect_uri').join('') !== '') return false;
    const redirectUri = (await openCode(code))?.redirectUri;
    if (redirectUri === undefined) return false;
    form.set('redirect_uri', redirectUri);
    return true;
  }

  /**
   * Leaves out scopes of the authorization server itself that a refresh asks for and its token does not have. Clients ask
   * for what the metadata lists, and such a scope conveys nothing here (FA-50).
   * @returns whether anything was changed
   */
  async function dropServerScopes(form: URLSearchParams, refreshToken: string): Promise<boolean> {
    const [given, ...more] = form.getAll('scope');
    const asked = parseScope(given);
    if (more.length > 0 || !asked.some((scope) => serverScopes.has(scope))) return false;
    const row = await artifacts.find('RefreshToken', hashSecret('RefreshToken', refreshToken));
    if (!row) return false;
    const granted = parseScope(openPayload<{ scope?: string }>(box, 'RefreshToken', row).scope);
    const kept = asked.filter((scope) => granted.includes(scope) || !serverScopes.has(scope));
    if (kept.length === asked.length) return false;
    if (kept.length > 0) form.set('scope', formatScope(kept));
    else form.delete('scope');
    return true;
  }

  return async (ctx: Context, next: Next): Promise<void> => {
    const form = await readFormBody(ctx);
    if (!form) return;
    const isCanonical = [canonicalizeResources(form, resources), tidyScope(form)].includes(true);
    const refreshToken = form.get('grant_type') === 'refresh_token' ? form.get('refresh_token') : null;
    const code = form.get('grant_type') === 'authorization_code' ? form.get('code') : null;

    const isCompleted =
      (refreshToken !== null && (await dropServerScopes(form, refreshToken))) ||
      (code !== null && (await addRedirectUri(form, code)));
    if (isCanonical || isCompleted) replayForm(ctx, form);

    let endAnswer = (): void => undefined;
    const { result, writes } = await commitWrites(artifacts, async (collecting) => {
      await next();
      if (ctx.status === 400) nameUnauthorizedGrant(ctx);
      if (ctx.state.grantError?.error_detail === repeatedProof) answerRepeatedProof(ctx);
      refuseUnboundToken(ctx, resources);
      if (ctx.status === 200) {
        const { before, end } = beginAnswer(refreshToken);
        endAnswer = end;
        await tokenLimit.count(ctx, () => isRepeated(refreshToken, before));
      }
      if (ctx.status === 200 && refreshToken !== null)
        await options.refreshLoops.count(ctx, hashSecret('RefreshToken', refreshToken));
      if (collecting.endsGrant) await noteReuse(ctx, form.get('grant_type'), code);
      else if (ctx.status === 200) audit('token.issued', ctx, { grantType: form.get('grant_type') ?? '' });
      if (ctx.status >= 400) collecting.dropWrites();
      else if (refreshToken !== null) {
        const id = hashSecret('RefreshToken', refreshToken);
        if (refreshGraceSeconds > 0)
          collecting.noteSource('RefreshToken', id, describeSource(ctx, id, sourceKeys));
        keepRefreshAnswer(ctx, id, collecting);
      } else if (code === null) noteUse(ctx, collecting);
      return ctx.status < 500;
    }).finally(() => endAnswer());

    if (!result.committed) {
      await tokenLimit.giveBack(ctx);
      await resolveConflict(ctx, result.conflict, writes);
    }
    if (code !== null && ctx.status === 400) await noteFailedCode(ctx, code, form);
    if (refreshToken !== null && ctx.status === 400) await noteExpiredRefresh(ctx, refreshToken);
  };
}
