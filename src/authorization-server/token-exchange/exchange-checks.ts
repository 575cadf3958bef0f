import { accessTokenType } from './exchange-rule.ts';

/** Gives a parameter of the request; undefined where it is absent. */
type Parameters = (name: string) => string | undefined;

/** One check of the form of a request: what is wrong, in a sentence; undefined where nothing is. */
type ExchangeCheck = (parameter: Parameters) => string | false | undefined;

/**
 * The checks of the form of an exchange, in order (RFC 8693 section 2.1). The client that authenticates is the actor:
 * nobody acts by the token of somebody else, and nobody becomes somebody else (T-104).
 */
const checks: readonly ExchangeCheck[] = [
  (parameter) => parameter('subject_token') === undefined && 'subject_token is missing',
  (parameter) =>
    parameter('subject_token_type') !== accessTokenType &&
    `subject_token_type must be ${accessTokenType}: only access tokens of this server are exchanged`,
  (parameter) =>
    (parameter('actor_token') ?? parameter('actor_token_type')) !== undefined &&
    'actor_token is not taken: the client that authenticates is the actor',
  (parameter) =>
    (parameter('requested_token_type') ?? accessTokenType) !== accessTokenType &&
    `requested_token_type must be ${accessTokenType}`,
  (parameter) =>
    parameter('audience') !== undefined && 'name what the token is for by resource, not audience',
];

/** @returns the first fault in the form of an exchange; undefined where there is none */
export function findExchangeFault(parameter: Parameters): string | undefined {
  for (const check of checks) {
    const fault = check(parameter);
    if (fault) return fault;
  }
  return undefined;
}
