import type { ClientContext } from '../context.ts';
import type { Authorizer } from '../session/authorizer.ts';
import { type CodeLoginOptions, loginWithCode } from './code-login.ts';

/**
 * Makes an authorizer of a login with the code flow: whenever a session needs a credential, the agent takes the user
 * through an authorization. Discovery starts anew each time, from the refusal at hand, so that a server which names
 * another authorization server by now is followed there, with a client registered there (A5-10).
 * @param context fetch, clock and limits
 * @param options as for a login; `scopes` are those of the first login, a step-up asks for all held and required
 * @see MCP authorization "Step-Up Authorization Flow" (A3-09, A8-07)
 */
export function codeAuthorizer(
  context: ClientContext,
  options: Omit<CodeLoginOptions, 'challenge' | 'isClientSure'>,
): Authorizer {
  return async ({ server, why, scopes = options.scopes, challenge }) => {
    const isClientSure = why === 'insufficient_scope';
    const { credential } = await loginWithCode(context, server, {
      ...options,
      scopes,
      challenge,
      isClientSure,
    });
    return credential;
  };
}
