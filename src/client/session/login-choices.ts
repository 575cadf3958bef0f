import type { Credential } from '../stores/credential-store.ts';

/** What was chosen at a login, to be chosen again at the one that takes its place. */
export interface LoginChoices {
  /** Its token is bound to a key (RFC 9449). */
  dpop?: true;
  /** The authorization server was not told the `resource` (CL-5). */
  withoutResource?: true;
}

/** @returns what was chosen at the login a credential came of */
export function choicesOf(credential: Credential | undefined): LoginChoices {
  return {
    ...(credential?.dpopKey && { dpop: true as const }),
    ...(credential?.withoutResource && { withoutResource: true as const }),
  };
}
