import type { Context } from 'koa';
import type { AuditLog } from '../audit.ts';
import type { Limit } from '../limits.ts';
import { isRegistrationReadable } from '../registration/registration-endpoint.ts';
import { createAddressLimiter } from './address-limiter.ts';
import { createReached, type TooMany, tellPerson, tellProgram } from './answers.ts';
import type { EndpointLimit, LimitName } from './endpoint-limit.ts';
import {
  limitAddress,
  limitClient,
  limitFailures,
  limitReadable,
  type RequestLimit,
} from './limit-requests.ts';

/** Parts of the limits. */
export interface EndpointLimitsOptions {
  limits: Record<'registrations' | 'authorizations' | 'tokenFailures' | 'requests', Limit>;
  /** Returns true if many people stand behind an address. */
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

/** Creates the limits of the endpoints (T-055, T-061). They count in memory. */
export function createEndpointLimits(options: EndpointLimitsOptions): EndpointLimits {
  const { limits, isShared, audit, countLimited } = options;

  const reachedOf = (name: LimitName, limit: Limit): RequestLimit['reached'] => {
    const note = createReached(name, limit, countLimited);
    return (ctx: Context, key: string, claimedClientId?: string) =>
      note(key, (details) => audit('limit.reached', ctx, { ...details, claimedClientId }));
  };
  const perAddress = (name: keyof typeof limits, what: string) => ({
    byAddress: createAddressLimiter(limits[name], isShared),
    what,
    reached: reachedOf(name, limits[name]),
  });
  const perClient = (name: keyof typeof limits, what: string, answer: TooMany) => {
    const { times, windowSeconds } = limits[name];
    return {
      byAddress: createAddressLimiter({ times: times * clientsOfAddress, windowSeconds }, isShared),
      byClient: createAddressLimiter(limits[name], isShared),
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
        { ...perAddress('registrations', 'registrations'), answer: tellProgram },
        { ...requests, answer: tellProgram },
        isRegistrationReadable,
      ),
    },
    authorizations: (what, answer = tellProgram) => ({
      name: 'authorizations',
      step: limitClient(perClient('authorizations', what, answer)),
    }),
    failures: (what) => ({
      name: 'tokenFailures',
      step: limitFailures(perClient('tokenFailures', `failed ${what}`, tellProgram)),
    }),
    requests: { name: 'requests', step: limitAddress({ ...requests, answer: tellProgram }) },
    pages: { name: 'requests', step: limitAddress({ ...requests, answer: tellPerson }) },
  };
}
