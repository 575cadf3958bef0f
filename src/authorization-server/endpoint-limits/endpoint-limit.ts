import type { Context, Next } from 'koa';

/** The limits that refuse requests: those of the settings (429) by their names there, and the queue of passwords (503). */
export type LimitName =
  | 'registrations'
  | 'authorizations'
  | 'tokenFailures'
  | 'tokensPerGrant'
  | 'refreshesWithoutCall'
  | 'requests'
  | 'mcpRequests'
  | 'passwordQueue';

/** A limit in front of an endpoint. */
export interface EndpointLimit {
  name: LimitName;
  step: (ctx: Context, next: Next) => Promise<void>;
}
