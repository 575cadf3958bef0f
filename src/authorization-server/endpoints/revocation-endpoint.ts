import type { ArtifactStore } from '../../storage/artifacts.ts';
import type { IssuedAccessTokens } from '../access-tokens.ts';
import type { AuditLog } from '../audit.ts';
import { grantKey } from '../engine/stored-rows.ts';
import { commitWrites, type WriteSet } from '../engine/write-set.ts';
import { tokenLeftToUs } from '../jwt/own-jwt.ts';
import { answerRepeatedAssertion } from './client-assertion.ts';
import type { Step } from './endpoint-guards.ts';

/**
 * Creates the step around the engine's revocation endpoint (RFC 7009): one commit, a line in the audit log, and access
 * tokens that the engine declines or does not know. One of another client, or of nobody, is answered the same (T-051).
 */
export function createRevocationEndpoint(
  artifacts: ArtifactStore,
  accessTokens: IssuedAccessTokens,
  audit: AuditLog,
): Step {
  /**
   * Revokes a token.
   * @returns the account whose grant ended; undefined if no grant ended, as with an exchanged token, whose grant
   *   belongs to another client
   */
  async function revokeToken(token: string, clientId: string, writes: WriteSet): Promise<string | undefined> {
    const issued = await accessTokens.find(token);
    if (issued?.clientId !== clientId) return undefined;
    writes.remove('AccessToken', issued.tokenId, 'none');
    if (issued.grantId === undefined || issued.actor !== undefined) return undefined;
    writes.add({ type: 'removeGrant', id: grantKey(issued.grantId) });
    return issued.subject;
  }

  return async (ctx, next) => {
    const { result } = await commitWrites(artifacts, async (writes) => {
      await next();
      const left = tokenLeftToUs(ctx);
      let details = {};
      if (left) {
        const accountId = await revokeToken(left.token, left.clientId, writes);
        if (accountId !== undefined) details = { accountId };
        ctx.status = 200;
        ctx.body = '';
      }
      if (writes.endsGrant) audit('grant.revoked', ctx, details);
      return ctx.status < 500;
    });
    if (!result.committed) answerRepeatedAssertion(ctx);
  };
}
