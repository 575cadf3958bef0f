import { errors } from 'oidc-provider';
import { parseScope, personalScopes } from '../../oauth/scope.ts';
import type { ClientKeysRefused } from '../client-keys/client-keys.ts';
import type { ProtectedResource, ResourceRegistry } from '../resources.ts';

/** Who has a say in what a token may do. */
export interface ScopeLimits {
  resource: ProtectedResource;
  /** What the request asks for; undefined where it leaves that open. */
  asked: string | undefined;
  /** The most the others let it have; each undefined where one sets no limit. */
  limits: readonly (readonly string[] | undefined)[];
  /** What it gets that asks for nothing in particular, as far as the limits go. */
  fallback: readonly string[];
  /**
   * What becomes of a request for more: clients ask for all that a resource has, and go on with what they are told they got;
   * a server that asks for another resource has to know what it is doing.
   */
  excess: 'dropped' | 'refused';
}

/**
 * Decides the scopes of a token that nobody is asked about: never more than each limit allows; the answer says what
 * (RFC 6749 section 3.3).
 * @throws errors.InvalidScope where more was asked for, or nothing is left
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
 * Gives the resource of a token that nobody is asked about (RFC 8707 section 2.2).
 * @param asked the `resource` of the request, if any
 * @param asserted what the assertion is for, where its kind says so; the request may not ask for another
 * @param allowed those it may be; all there are where undefined
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
  if (!found) throw new errors.InvalidTarget('the resource is not served here');
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
