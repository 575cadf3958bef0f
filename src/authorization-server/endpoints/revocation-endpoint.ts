import type { ArtifactStore } from '../../storage/artifacts.ts';
import type { AuditLog } from '../audit.ts';
import { commitWrites } from '../engine/write-set.ts';
import type { Step } from './endpoint-guards.ts';

/** Creates the step around the engine's revocation endpoint (RFC 7009): one commit, and a line in the audit log. */
export function createRevocationEndpoint(artifacts: ArtifactStore, audit: AuditLog): Step {
  return async (ctx, next) => {
    await commitWrites(artifacts, async (writes) => {
      await next();
      if (writes.endsGrant) audit('grant.revoked', ctx);
      return ctx.status < 500;
    });
  };
}
