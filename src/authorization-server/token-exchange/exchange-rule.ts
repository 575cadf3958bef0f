/** The grant by which a server that was called goes on to another one for the same person (RFC 8693). */
export const tokenExchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** The type of the one kind of token that is exchanged, and of what is given for it (RFC 8693 section 3). */
export const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';

/** A server that the operator lets exchange the tokens it was called with. */
export interface ExchangeRule {
  /** The client it authenticates as. */
  clientId: string;
  /** The resource it is: only tokens for this one are exchanged. */
  from: string;
  /** The resources it may call with what it gets. */
  to: readonly string[];
  /** The most scopes that it may have there; all scopes of the token if absent. */
  scopes?: readonly string[] | undefined;
}
