import type { KoaContextWithOIDC } from 'oidc-provider';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret } from '../../crypto/secret.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import { deviceGrantType } from '../client-metadata.ts';
import type { Step } from '../endpoints/endpoint-guards.ts';
import { answerWithOAuthError } from '../endpoints/oauth-answer.ts';
import { grantKey, openPayload } from '../engine/stored-names.ts';
import { currentWriteSet } from '../engine/write-set.ts';
import { createLimiter } from '../limits.ts';

/** How long a device waits between two polls, in seconds (RFC 8628 section 3.2). */
export const pollIntervalSeconds = 5;

/** How much earlier than it should a poll may arrive, in seconds: networks and timers are not exact. */
const leewaySeconds = 1;

const kind = 'DeviceCode';

/** What polling looks up. */
export interface DevicePollingOptions {
  artifacts: ArtifactStore;
  box: SealedBox;
}

/**
 * Creates the step around the engine's token endpoint that keeps devices to their pace (`slow_down`), and ends the grant
 * of a device code that its own client sends again after it has expired, when the engine no longer looks whether it was
 * used (RFC 8628 section 3.5; T-029). It counts in memory: a poll writes nothing.
 */
export function createDevicePolling({ artifacts, box }: DevicePollingOptions): Step {
  const polls = createLimiter({ times: 1, windowSeconds: pollIntervalSeconds - leewaySeconds });

  async function endReplayed(id: string, clientId: string | undefined): Promise<void> {
    const row = await artifacts.find(kind, id);
    if (row?.consumedAt === undefined) return;
    const issued = openPayload<Record<string, string>>(box, kind, row);
    if (issued.clientId !== clientId || issued.grantId === undefined) return;
    currentWriteSet()?.add({ type: 'removeGrant', id: grantKey(issued.grantId) });
  }

  return async (ctx, next) => {
    await next();
    const { params, client } = (ctx as Partial<KoaContextWithOIDC>).oidc ?? {};
    if (ctx.status !== 400 || params?.grant_type !== deviceGrantType) return;
    const { error } = ctx.body as { error?: string };
    const id = hashSecret(kind, String(params.device_code ?? ''));
    if (error === 'expired_token') await endReplayed(id, client?.clientId);
    if (error !== 'authorization_pending' || (await polls.take(id)) === 0) return;
    const description = `wait ${pollIntervalSeconds} seconds longer between two polls`;
    answerWithOAuthError(ctx, 400, 'slow_down', description);
  };
}
