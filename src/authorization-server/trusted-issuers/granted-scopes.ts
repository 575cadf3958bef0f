import { errors } from 'oidc-provider';
import { parseScope, personalScopes } from '../../oauth/scope.ts';
import type { ProtectedResource } from '../resources.ts';

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
