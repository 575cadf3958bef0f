import type { Step } from '../endpoints/endpoint-guards.ts';

/** The limits of the settings that refuse requests with 429, by their names there. */
export type LimitName =
  | 'registrations'
  | 'authorizations'
  | 'tokenFailures'
  | 'tokensPerGrant'
  | 'requests'
  | 'mcpRequests';

/** A limit in front of an endpoint. */
export interface EndpointLimit {
  name: LimitName;
  step: Step;
}
