import type { Credential, FormerLogin } from '../stores/credential-store.ts';
import { choicesOf } from './login-choices.ts';
import { machineOf } from './machine-login.ts';

/**
 * What is to be known of a login when its tokens are gone: what a store keeps of a credential that has ended.
 * @param credential what it gave; undefined where there was none
 */
export function formerLogin(credential: Credential | undefined): FormerLogin {
  if (credential === undefined) return {};
  const machine = machineOf(credential);
  return {
    issuer: credential.authorizationServer.issuer,
    ...(machine && { machine }),
    chosen: choicesOf(credential),
  };
}
