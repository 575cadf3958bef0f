import type { Credential, LoginChoices } from '../stores/credential-store.ts';

/** @returns what was chosen at the login a credential came of */
export function choicesOf({ dpopKey, withoutResource }: Credential): LoginChoices {
  return { ...(dpopKey && { dpop: true }), ...(withoutResource && { withoutResource }) };
}
