import { decodeJwt } from 'jose';
import type { Context } from 'koa';
import { hashSecret } from '../../crypto/secret.ts';
import type { AuditLog } from '../audit.ts';
import { answerWithOAuthError, errorOf, type Step } from '../endpoints/endpoint-guards.ts';
import { answerWithErrorPage } from '../endpoints/error-page.ts';
import { BodyRefused, findForm, isFormUnfinished } from '../endpoints/form-body.ts';
import {
  createAddressLimiter,
  createReached,
  type EndpointLimit,
  type Limit,
  type Limiters,
  type LimitName,
  type LoadLimiter,
} from '../limits.ts';
import { isRegistrationReadable } from '../registration/registration-endpoint.ts';

/** Parts of the limits. */
export interface EndpointLimitsOptions {
  limits: Record<'registrations' | 'authorizations' | 'tokenFailures' | 'requests', Limit>;
  limiters: Limiters;
  /** Returns true if many users share an address. */
  isShared: (address: string) => boolean;
  audit: AuditLog;
  /** Counts a refused request. */
  countLimited: (limit: LimitName) => void;
}

/** Number of clients at their limit after which their address counts as at its limit. */
const clientsOfAddress = 10;

/** The limits in front of endpoints, ready to be put there. */
export interface EndpointLimits {
  /** Registrations of an address that were read whole. */
  registrations: EndpointLimit;
  /** Authorization requests by client and address. Each endpoint that takes them counts for itself. */
  authorizations(what: string, answer?: TooMany): EndpointLimit;
  /** Refused requests by client and address. Each endpoint counts for itself. */
  failures(what: string): EndpointLimit;
  /** All requests of an address to endpoints that need no tighter limit, together. */
  requests: EndpointLimit;
  /** The same count, in front of pages for people. */
  pages: EndpointLimit;
}

/** Creates the limits of the endpoints (T-055, T-061). They are limits of load. */
export function createEndpointLimits(options: EndpointLimitsOptions): EndpointLimits {
  const { limits, limiters, isShared, audit, countLimited } = options;

  const reachedOf = (name: LimitName, limit: Limit): RequestLimit['reached'] => {
    const note = createReached(name, limit, countLimited);
    return (ctx: Context, key: string, claimedClientId?: string) =>
      note(key, (details) => audit('limit.reached', ctx, { ...details, claimedClientId }));
  };
  const byAddressOf = (name: string, limit: Limit): LoadLimiter =>
    createAddressLimiter(limit, isShared, (each) => limiters.ofLoad(name, each));
  const perAddress = (name: keyof typeof limits, what: string) => ({
    byAddress: byAddressOf(`${name} of address`, limits[name]),
    what,
    reached: reachedOf(name, limits[name]),
  });
  const perClient = (name: keyof typeof limits, what: string, answer: TooMany) => {
    const { times, windowSeconds } = limits[name];
    return {
      byAddress: byAddressOf(`${what} of address`, { times: times * clientsOfAddress, windowSeconds }),
      byClient: byAddressOf(`${what} of client`, limits[name]),
      what,
      answer,
      reached: reachedOf(name, limits[name]),
    };
  };
  const requests = perAddress('requests', 'requests');
  return {
    registrations: {
      name: 'registrations',
      step: limitReadable(
        { ...perAddress('registrations', 'registrations'), answer: rejectAsJson },
        { ...requests, answer: rejectAsJson },
        isRegistrationReadable,
      ),
    },
    authorizations: (what, answer = rejectAsJson) => ({
      name: 'authorizations',
      step: limitClient(perClient('authorizations', what, answer)),
    }),
    failures: (what) => ({
      name: 'tokenFailures',
      step: limitFailures(perClient('tokenFailures', `failed ${what}`, rejectAsJson)),
    }),
    requests: { name: 'requests', step: limitAddress({ ...requests, answer: rejectAsJson }) },
    pages: { name: 'requests', step: limitAddress({ ...requests, answer: rejectAsPage }) },
  };
}

/** A limit as its steps use it. */
interface RequestLimit {
  /** Counts by address. */
  byAddress: LoadLimiter;
  answer: TooMany;
  /** Name of the limited requests, in the plural. */
  what: string;
  /** Takes note that a request was refused. @param key what was counted by */
  reached: (ctx: Context, key: string, clientId?: string) => Promise<void>;
}

/** A limit that counts by client as well. */
interface ClientLimit extends RequestLimit {
  /** Counts by address and client: the tight one, so that a client keeps out itself and not its neighbours. */
  byClient: LoadLimiter;
}

const addressOf = (ctx: Context): string => String(ctx.state.clientAddress);

/** A client id can be long, and anybody can make it up. */
const keyOf = (ctx: Context, clientId: string): string =>
  `${addressOf(ctx)} ${hashSecret('ClaimedClient', clientId)}`;

async function refuseAddress(ctx: Context, limit: RequestLimit, waitSeconds: number): Promise<void> {
  await limit.reached(ctx, addressOf(ctx));
  limit.answer(ctx, waitSeconds, `too many ${limit.what} from this address`);
}

async function refuseClient(
  ctx: Context,
  limit: ClientLimit,
  clientId: string,
  waitSeconds: number,
): Promise<void> {
  await limit.reached(ctx, keyOf(ctx, clientId), clientId);
  limit.answer(ctx, waitSeconds, `too many ${limit.what} of this client from this address`);
}

/** If nothing was refused for a whole window, of anybody, no key is made and none looked up. */
const waitOf = async (limiter: LoadLimiter, key: () => string): Promise<number> =>
  limiter.isIdle() ? 0 : limiter.wait(key());

/** Counts every request of an address (T-061). */
function limitAddress(limit: RequestLimit): Step {
  return async (ctx, next) => {
    const wait = await limit.byAddress.take(addressOf(ctx));
    return wait > 0 ? refuseAddress(ctx, limit, wait) : next();
  };
}

/**
 * Counts the requests of an address that were read whole, before they have an effect (T-207). A request whose body is
 * unfinished or unreadable has none: it counts in another limit, and in this one only if it is refused for its credentials.
 * @param unreadable the limit of unreadable requests
 * @param isReadable reads the request
 */
function limitReadable(
  limit: RequestLimit,
  unreadable: RequestLimit,
  isReadable: (ctx: Context) => Promise<boolean>,
): Step {
  return async (ctx, next) => {
    const address = addressOf(ctx);
    for (const each of [unreadable, limit]) {
      const wait = await each.byAddress.wait(address);
      if (wait > 0) return refuseAddress(ctx, each, wait);
    }
    const counted = (await isReadable(ctx)) ? limit : unreadable;
    const wait = await counted.byAddress.take(address);
    if (wait > 0) return refuseAddress(ctx, counted, wait);
    await next();
    if (counted === unreadable && (ctx.status === 401 || ctx.status === 403))
      await limit.byAddress.take(address);
  };
}

/** Counts every request with a finished body, by the client it names and by the address: what is over the limit counts nowhere. */
function limitClient(limit: ClientLimit): Step {
  return async (ctx, next) => {
    const addressWait = await limit.byAddress.wait(addressOf(ctx));
    if (addressWait > 0) return refuseAddress(ctx, limit, addressWait);
    const clientId = await readClaimedClient(ctx);
    if (await isFormUnfinished(ctx)) return next();
    const key = keyOf(ctx, clientId);
    const clientWait = await limit.byClient.take(key);
    if (clientWait > 0) return refuseClient(ctx, limit, clientId, clientWait);
    const wait = await limit.byAddress.take(addressOf(ctx));
    if (wait === 0) return next();
    await limit.byClient.giveBack(key);
    return refuseAddress(ctx, limit, wait);
  };
}

/**
 * Limits failed requests for each client and for each address. This slows guessing with any number of client ids, and
 * does not affect other clients at the same address (T-055). A device that polls at its interval does not fail (RFC
 * 8628 section 3.5). A request whose body ended too early is not counted (T-207).
 */
function limitFailures(limit: ClientLimit): Step {
  return async (ctx, next) => {
    const waitOfAddress = () => waitOf(limit.byAddress, () => addressOf(ctx));
    const addressWait = await waitOfAddress();
    if (addressWait > 0) return refuseAddress(ctx, limit, addressWait);
    const clientId = await readClaimedClient(ctx);
    // While a body is on its way the address may have come to its limit.
    const waitByNow = await waitOfAddress();
    if (waitByNow > 0) return refuseAddress(ctx, limit, waitByNow);
    const clientWait = await waitOf(limit.byClient, () => keyOf(ctx, clientId));
    if (clientWait > 0) return refuseClient(ctx, limit, clientId, clientWait);
    await next();
    if ([undefined, 'authorization_pending'].includes(errorOf(ctx)) || (await isFormUnfinished(ctx))) return;
    await limit.byClient.take(keyOf(ctx, clientId));
    await limit.byAddress.take(addressOf(ctx));
  };
}

/** The user of HTTP Basic authentication (RFC 6749 section 2.3.1). */
function basicUser(header: string): string | undefined {
  const [, encoded] = /^Basic +([\w+/=-]+)$/i.exec(header) ?? [];
  if (encoded === undefined) return undefined;
  const [user = ''] = Buffer.from(encoded, 'base64').toString('utf8').split(':', 1);
  return new URLSearchParams(`user=${user}`).get('user') ?? undefined;
}

/** The subject of a client assertion (RFC 7523 section 3). */
function assertedClient(jwt: string): string | undefined {
  try {
    return decodeJwt(jwt).sub;
  } catch {
    return undefined;
  }
}

/**
 * Returns the client a request says it comes from. Nothing of it is proven: it is for counting alone. A form that is
 * refused is answered by the step that reads it.
 * @returns the client id, empty if the request names none
 */
export async function readClaimedClient(ctx: Context): Promise<string> {
  if (ctx.method !== 'POST') return new URLSearchParams(ctx.querystring).get('client_id') ?? '';
  const found = await findForm(ctx);
  const form = found instanceof BodyRefused ? undefined : found;
  const assertion = form?.get('client_assertion') ?? null;
  return (
    basicUser(ctx.get('Authorization')) ??
    form?.get('client_id') ??
    (assertion === null ? undefined : assertedClient(assertion)) ??
    ''
  );
}

/**
 * Answers that a limit was reached, with 429 and how long to wait (RFC 6585 section 4, RFC 9110 section 10.2.3).
 * @param reason what there was too much of, the beginning of a sentence
 */
export type TooMany = (ctx: Context, waitSeconds: number, reason: string) => void;

function describe(waitSeconds: number, reason: string): string {
  return `${reason}; try again in ${waitSeconds} second${waitSeconds === 1 ? '' : 's'}`;
}

/** Any page may read it: it says how long to wait, and uses no cookies. */
function letAnyPageRead(ctx: Context): void {
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Access-Control-Expose-Headers', 'Retry-After');
}

/** Lets any page read a 429 of an endpoint, whichever limit it comes from. */
export const exposeWait: Step = async (ctx, next) => {
  await next();
  if (ctx.status === 429) letAnyPageRead(ctx);
};

function prepare(ctx: Context, waitSeconds: number): void {
  ctx.set('Retry-After', String(waitSeconds));
  letAnyPageRead(ctx);
}

/** Rejects a request of a program with 429 and JSON. */
export const rejectAsJson: TooMany = (ctx, waitSeconds, reason) => {
  prepare(ctx, waitSeconds);
  answerWithOAuthError(ctx, 429, 'temporarily_unavailable', describe(waitSeconds, reason));
};

/** Rejects a request of a browser with 429 and a page, or with JSON if the request accepts no page. */
export const rejectAsPage: TooMany = (ctx, waitSeconds, reason) => {
  prepare(ctx, waitSeconds);
  answerWithErrorPage(
    ctx,
    429,
    { code: 'temporarily_unavailable', description: describe(waitSeconds, reason) },
    { explanation: 'too_many_requests', waitSeconds },
  );
};
