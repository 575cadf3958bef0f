import type { AuthorizationServerOptions } from '../authorization-server/index.ts';
import { HeldBytes } from '../mcp/index.ts';
import { type Logger, loggable } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Settings } from '../options.ts';

/**
 * The limits of the authorization server, by what it calls them.
 * @param limits as they were set, with defaults filled in
 */
export function composeLimits(limits: Settings['limits']): AuthorizationServerOptions['limits'] {
  const { registrations, authorizations, deviceCodes, tokenFailures, tokensPerGrant, requests } = limits;
  const { sharedAddresses, refreshesWithoutCall } = limits;
  return {
    codes: limits.codesPerAccount,
    resets: limits.passwordResetsPerAddress,
    registrations,
    authorizations,
    deviceCodes,
    tokenFailures,
    tokensPerGrant,
    refreshesWithoutCall,
    requests,
    sharedAddresses,
    documents: {
      perAddress: limits.metadataDocuments,
      sharedAddresses,
      perTarget: limits.metadataDocumentsPerHost,
    },
    logins: {
      perAddress: limits.loginsPerAddress,
      perAccountAndAddress: limits.loginsPerAccountAndAddress,
      perAccount: limits.loginsPerAccount,
    },
  };
}

/** The budget of bytes that are held for clients. Each answer that a client does not get is logged and counted (T-205). */
export function composeHeldBytes(
  { heldBytes }: Pick<Settings['limits'], 'heldBytes'>,
  { countLostAnswer, watch }: Pick<Metrics, 'countLostAnswer' | 'watch'>,
  logger: Pick<Logger, 'warn'>,
): HeldBytes {
  const held = new HeldBytes(heldBytes, ({ loss, client, bytes }) => {
    countLostAnswer(loss);
    logger.warn({ loss, client: loggable(client), bytes }, lossSayings[loss]);
  });
  watch('gatehouse_held_bytes', 'Bytes held for clients that have not taken them.', () => held.bytes);
  return held;
}

const lossSayings = {
  slow: 'a client was cut off: it took nothing of its answer, and others need the room',
  no_room: 'an answer is lost: too many bytes wait for clients already (limits.heldBytes)',
  stalled: 'a client was cut off: it took nothing of its answer',
  left: 'a client has closed its connection before it had taken its answer',
} as const;
