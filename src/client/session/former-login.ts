import type { Credential, FormerLogin } from '../stores/credential-store.ts';
import { choicesOf } from './login-choices.ts';
import { machineOf } from './machine-login.ts';

/**
 * What is to be known of a login when its tokens are gone.
 * @param credential what it gave; undefined where there was none
 * @see MCP authorization "Step-Up Authorization Flow" (A8-07)
 */
export function formerLogin(credential: Credential | undefined): FormerLogin {
  if (credential === undefined) return {};
  const { scopes = [] } = credential;
  const machine = machineOf(credential);
  return {
    ...(scopes.length > 0 && { scopes }),
    ...(machine && { machine }),
    chosen: choicesOf(credential),
  };
}
