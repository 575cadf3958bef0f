import type { Check } from '../check.ts';
import { eventStream } from './event-stream.ts';
import {
  acceptCheck,
  authorizationCheck,
  cachingCheck,
  challengeHeaderCheck,
  lastEventIdCheck,
  protocolVersionCheck,
  sessionIdCheck,
} from './header-checks.ts';
import { mcpCaller, type ProxyOptions } from './mcp-caller.ts';
import {
  errorPageCheck,
  hostCheck,
  prefixCheck,
  productCheck,
  redirectCheck,
  wellKnownCheck,
} from './route-checks.ts';
import {
  bodySizeCheck,
  bufferingCheck,
  compressionCheck,
  headerSizeCheck,
  idleCheck,
} from './stream-checks.ts';

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
