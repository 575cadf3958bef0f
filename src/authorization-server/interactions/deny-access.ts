import type { Context } from 'koa';
import type { AuditLog } from '../audit.ts';
import { type AskedFor, finishInteraction, type Interaction } from './interaction.ts';

/**
 * Returns true if a grant with these scopes would open nothing at all. One for an app that asked for more than the
 * resource's own scopes opens something: the tools that need none.
 * @param left what a person left ticked, or may have of it
 */
export function opensNothing(left: readonly string[], { scopes, resource }: AskedFor): boolean {
  const isLeftOut = (scope: string): boolean => resource.scopes[scope] !== undefined && !left.includes(scope);
  return scopes.length > 0 && scopes.every(isLeftOut);
}

/** Hands the client `access_denied`, because a person said so (RFC 6749 section 4.1.2.1). */
export function denyAccess(
  ctx: Context,
  audit: AuditLog,
  interaction: Interaction,
  { clientId }: AskedFor,
): Promise<void> {
  audit('consent.denied', ctx, { accountId: interaction.session?.accountId, clientId });
  return finishInteraction(ctx, interaction, {
    error: 'access_denied',
    error_description: 'the person did not give access',
  });
}
