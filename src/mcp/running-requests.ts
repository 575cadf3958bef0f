import { InFlightMap } from '../collections/in-flight-map.ts';
import type { McpLike } from './mcp-like.ts';

/** Where the SDK, version 2 or 1, keeps what cancels the requests that run, by their ids; no public member of it. */
const member = '_requestHandlerAbortControllers';

/**
 * Has a server of the SDK keep the requests that run in an {@link InFlightMap} in the place of its `Map`, through which
 * each request would leave something behind until all memory is searched. A server that has no such member, or one with
 * something in it, stays as it is.
 * @param server one that was connected and has been asked nothing yet
 */
export function keepRunningRequestsInFlight(server: McpLike): void {
  const { server: inner = server } = server as { server?: unknown };
  if (typeof inner !== 'object' || inner === null) return;
  const known = inner as Record<typeof member, unknown>;
  const running = known[member];
  if (running instanceof Map && running.size === 0) known[member] = new InFlightMap();
}
