import type { Check } from '../check.ts';
import { cachingCheck } from './caching-check.ts';
import { eventStream } from './event-stream.ts';
import {
  acceptCheck,
  authorizationCheck,
  challengeHeaderCheck,
  lastEventIdCheck,
  protocolVersionCheck,
  sessionIdCheck,
} from './header-checks.ts';
import { hostCheck } from './host-check.ts';
import { mcpCaller } from './mcp-caller.ts';
import { prefixCheck } from './prefix-check.ts';
import type { ProxyOptions } from './proxy-options.ts';
import { errorPageCheck, productCheck, redirectCheck, wellKnownCheck } from './route-checks.ts';
import { bodySizeCheck, headerSizeCheck } from './size-checks.ts';
import { bufferingCheck, compressionCheck, idleCheck } from './stream-checks.ts';

/**
 * Checks of what stands between clients and the server, in the order of the report: what can be seen from one side
 * only. One of the last watches a silent stream for {@link ProxyOptions.idleSeconds}.
 * @param options a login if there is one, and patience
 */
export function proxyChecks(options: ProxyOptions = {}): readonly Check[] {
  const caller = mcpCaller(options);
  const stream = eventStream(caller);
  return [
    productCheck,
    redirectCheck,
    errorPageCheck,
    prefixCheck,
    wellKnownCheck,
    hostCheck,
    cachingCheck,
    headerSizeCheck,
    bodySizeCheck(caller),
    authorizationCheck(caller),
    challengeHeaderCheck,
    acceptCheck(caller),
    sessionIdCheck(caller),
    protocolVersionCheck(caller),
    bufferingCheck(stream),
    compressionCheck(stream),
    idleCheck(stream, options),
    // It opens another stream of the session, for which servers may end the one that was watched.
    lastEventIdCheck(caller, stream),
  ];
}
