import type { Context } from 'koa';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { equalSecrets, hashSecret, randomSecret } from '../../crypto/secret.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import type { UpstreamFault } from '../../upstream/index.ts';
import type { AuthorizationWishes, PendingAuthorization, Upstream } from '../../upstream/upstream.ts';
import type { AuditLog } from '../audit.ts';
import { repeatSeconds } from '../endpoints/repeated-answers.ts';
import { openPayload, payloadContext } from '../engine/stored-rows.ts';
import { record } from '../engine/write-set.ts';
import { navigate } from '../interactions/page.ts';
import type { Failure, UpstreamPurpose } from './purposes.ts';

/** Sends a browser to an upstream. */
export type BeginUpstream = (
  ctx: Context,
  upstream: Upstream,
  purpose: UpstreamPurpose,
  wishes: AuthorizationWishes,
) => Promise<void>;

/**
 * Creates the redirect to an upstream. The state is stored in the commit of the request and bound to the browser,
 * immediately before the redirect (A11-06). Callers must have the approval of the user, posted from a page of this
 * server.
 * @returns a function that responds to the request; it throws UpstreamFault if the upstream cannot be used
 */
export function createBeginUpstream(states: UpstreamStates, audit: AuditLog): BeginUpstream {
  return async (ctx, upstream, purpose, wishes) => {
    const { url, pending } = await upstream.begin(wishes);
    await states.keep(ctx, { upstream: upstream.name, purpose, pending });
    audit('upstream.begun', ctx, {
      upstream: upstream.name,
      purpose: purpose.purpose,
      ...(purpose.purpose === 'authorization' ? { clientId: purpose.clientId } : undefined),
      ...(purpose.purpose === 'link' ? { accountId: purpose.accountId } : undefined),
    });
    navigate(ctx, url);
  };
}

/** Returns true if it is an upstream that went wrong, and not we ourselves. */
export function isUpstreamFault(error: unknown): error is UpstreamFault {
  return error instanceof Error && error.name === 'UpstreamFault';
}

/** Maps a fault of an upstream to the kind shown to the user: denied, unavailable, or a rejected response. */
export function failureOf({ kind, reason }: UpstreamFault): Failure {
  if (reason === 'denied') return 'denied';
  return kind === 'unavailable' ? 'unavailable' : 'refused';
}

/** Maximum time that a user may take at an upstream, in seconds (A11-06). */
export const stateSeconds = 600;

const kind = 'UpstreamState';

/** Stored state of a login at an upstream. */
export interface UpstreamState {
  upstream: string;
  purpose: UpstreamPurpose;
  /** Expected values for the upstream's response. */
  pending: PendingAuthorization;
}

/** Reason why a returning user is rejected; nothing was changed (T-080). */
export type StateFault =
  | 'state_missing'
  | 'state_unknown'
  | 'state_expired'
  | 'state_of_other_upstream'
  | 'state_of_other_browser'
  | 'state_used';

/** Keeps who was sent to an upstream, until they come back. */
export interface UpstreamStates {
  /**
   * Keeps a state in the commit of the request and ties it to the browser that asks. Only after an approval on a page of
   * ours: neither row nor cookie exists before (A11-06, T-081).
   */
  keep(ctx: Context, state: UpstreamState): Promise<void>;
  /**
   * Consumes a state. A state of another browser or upstream is not consumed, so the link alone cannot invalidate it.
   * @param upstream name of the upstream of the callback
   * @param value `state` of the callback; undefined if it is absent or repeated
   */
  claim(ctx: Context, upstream: string, value: string | undefined): Promise<UpstreamState | StateFault>;
  /** Returns the cookie of a state, which stays for a moment after it was claimed; undefined in another browser. */
  cookieOf(ctx: Context, value: string): string | undefined;
}

/** Options of the state store. */
export interface UpstreamStatesOptions {
  artifacts: ArtifactStore;
  box: SealedBox;
  /** True if cookies go over https alone. */
  secure: boolean;
  /** Epoch seconds. */
  now: () => number;
}

/** Names the client a purpose serves; the account pages serve none. */
function clientOf(purpose: UpstreamPurpose): string {
  return purpose.purpose === 'authorization' ? purpose.clientId : '';
}

/**
 * Creates the keeping of states: single use, ten minutes, sealed, each with a cookie of its own, so that several logins
 * in one browser do not disturb each other (T-080, A11-04, A11-06).
 */
export function createUpstreamStates(options: UpstreamStatesOptions): UpstreamStates {
  const { artifacts, box, secure, now } = options;
  const prefix = secure ? '__Host-gatehouse-upstream' : 'gatehouse-upstream';
  const stateCookie = (id: string): string => `${prefix}-${id.slice(0, 16)}`;
  const attributes = { httpOnly: true, sameSite: 'lax', secure, path: '/', signed: false } as const;
  /** The cookie stands for this state and this client in one browser. */
  const browserDigest = (cookie: string, id: string, purpose: UpstreamPurpose): string =>
    hashSecret('UpstreamBrowser', JSON.stringify([cookie, id, clientOf(purpose)]));

  return {
    async keep(ctx, state) {
      const id = hashSecret(kind, state.pending.state);
      const cookie = randomSecret();
      const { purpose } = state;
      const payload = JSON.stringify({ ...state, browser: browserDigest(cookie, id, purpose) });
      const clientId = clientOf(purpose);
      await record(artifacts, (writes) =>
        writes.add({
          type: 'put',
          kind,
          id,
          payload: box.seal(payload, payloadContext(kind, id)),
          expiresAt: now() + stateSeconds,
          ifAbsent: true,
          ...(clientId ? { clientId } : undefined),
          ...(purpose.purpose === 'link' ? { accountId: purpose.accountId } : undefined),
        }),
      );
      ctx.cookies.set(stateCookie(id), cookie, { ...attributes, maxAge: stateSeconds * 1000 });
    },

    async claim(ctx, upstream, value) {
      if (value === undefined || value === '') return 'state_missing';
      const id = hashSecret(kind, value);
      const row = await artifacts.find(kind, id);
      if (!row) return 'state_unknown';
      const { browser, ...state } = openPayload<UpstreamState & { browser: string }>(box, kind, row);
      const cookie = ctx.cookies.get(stateCookie(id), { signed: false }) ?? '';
      if (!equalSecrets(browserDigest(cookie, id, state.purpose), browser)) return 'state_of_other_browser';
      if (state.upstream !== upstream) return 'state_of_other_upstream';
      if (row.expiresAt <= now()) return 'state_expired';
      const result = await artifacts.commit([{ type: 'remove', kind, id, mustExist: true }]);
      if (!result.committed) return 'state_used';
      ctx.cookies.set(stateCookie(id), cookie, { ...attributes, maxAge: repeatSeconds * 1000 });
      return state;
    },

    cookieOf: (ctx, value) => ctx.cookies.get(stateCookie(hashSecret(kind, value)), { signed: false }),
  };
}
