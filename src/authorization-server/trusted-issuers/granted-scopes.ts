import { errors } from 'oidc-provider';
import { parseScope, personalScopes } from '../../oauth/scope.ts';
import type { ClientKeysRefused } from '../client-keys/client-keys.ts';
import type { ProtectedResource, ResourceRegistry } from '../resources.ts';

/** Limits of the scopes of a token. */
export interface ScopeLimits {
  resource: ProtectedResource;
  /** Requested scopes; undefined if the request names none. */
  asked: string | undefined;
  /** The most the others let it have; each undefined if one sets no limit. */
  limits: readonly (readonly string[] | undefined)[];
  /** Scopes of a request that names none, within the limits. */
  fallback: readonly string[];
  /**
   * Handling of a request for more: `dropped`, since clients ask for all scopes of a resource and continue with the
   * granted ones; or `refused`, since a server that asks for another resource must know what it does.
   */
  excess: 'dropped' | 'refused';
}

/**
 * Decides the scopes of a token that nobody is asked about: never more than each limit allows; the answer says what
 * (RFC 6749 section 3.3).
 * @throws errors.InvalidScope if more was asked for, or nothing is left
 */
export function grantScopes({ resource, asked, limits, fallback, excess }: ScopeLimits): string[] {
  const isAllowed = (scope: string): boolean =>
    Object.hasOwn(resource.scopes, scope) &&
    limits.every((limit) => limit === undefined || limit.includes(scope));
  // Clients ask for these by habit, and they give nothing here (A9-03).
  const wanted = parseScope(asked).filter((scope) => !personalScopes.includes(scope));
  const tooMuch = wanted.filter((scope) => !isAllowed(scope));
  if (excess === 'refused' && tooMuch.length > 0)
    throw new errors.InvalidScope('more was asked for than may be given here', tooMuch.join(' '));
  const given = (wanted.length > 0 ? wanted : fallback).filter(isAllowed);
  if (given.length === 0) throw new errors.InvalidScope('there is nothing that may be given here', '');
  return given;
}

/**
 * Returns the resource of a token that needs no consent (RFC 8707 section 2.2).
 * @param asked the `resource` of the request, if any
 * @param asserted resource of the assertion, if its kind names one; the request may not ask for another
 * @param allowed resources it may be; all if undefined
 * @throws errors.InvalidTarget
 */
export function chooseResource(
  resources: ResourceRegistry,
  asked: string | undefined,
  asserted: string | undefined,
  allowed: readonly string[] | undefined,
): ProtectedResource {
  const named = asserted ?? asked;
  const found = named === undefined ? resources.default : resources.find(named);
  if (!found || found.choices) throw new errors.InvalidTarget('the resource is not served here');
  if (asked !== undefined && resources.find(asked) !== found)
    throw new errors.InvalidTarget('the assertion is for another resource');
  if (allowed !== undefined && !allowed.includes(found.resource))
    throw new errors.InvalidTarget('this issuer does not open this resource');
  return found;
}

/**
 * An assertion that is refused (RFC 7523 section 3.1).
 * @param fault what is wrong, as the end of a sentence that begins with "the assertion"
 */
export function assertionRefused(fault: string): errors.InvalidGrant {
  const refusal = new errors.InvalidGrant(fault);
  refusal.error_description = `the assertion ${fault}`;
  return refusal;
}

/** Keys of an issuer that cannot be had now: nothing is wrong with the assertion, which can be sent again. */
export class IssuerKeysMissing extends errors.OIDCProviderError {
  override name = 'IssuerKeysMissing';
  readonly retryAfterSeconds: number;
  constructor(issuer: string, cause: ClientKeysRefused) {
    super(503, 'temporarily_unavailable', { cause });
    this.expose = true;
    this.retryAfterSeconds = cause.retryAfterSeconds;
    this.error_description = `the keys of ${issuer} cannot be had now; send the assertion again in ${cause.retryAfterSeconds} seconds`;
  }
}
