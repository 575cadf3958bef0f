import type { Context } from 'koa';
import type { AuditLog } from '../audit.ts';
import { currentWriteSet } from '../engine/write-set.ts';
import type { AllowedBefore } from './allowed-before.ts';
import type { AskedFor } from './interaction.ts';

/**
 * Ends what the client was given at this resource before, in the same commit as what is decided now. Only where the person
 * says so: installs of one client share its identifier, and each has a grant of its own.
 */
export async function endEarlier(
  ctx: Context,
  { allowedBefore, audit }: { allowedBefore: AllowedBefore; audit: AuditLog },
  accountId: string,
  { clientId, resource }: AskedFor,
): Promise<void> {
  const { grantIds } = await allowedBefore(accountId, clientId, resource.resource);
  for (const id of grantIds) currentWriteSet()?.add({ type: 'removeGrant', id });
  if (grantIds.length > 0) audit('grant.revoked', ctx, { accountId, clientId, reason: 'ended_at_consent' });
}
