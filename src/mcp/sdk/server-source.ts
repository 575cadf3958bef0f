import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { Backend, Caller } from '../modern/backend.ts';
import type { McpLike } from './mcp-like.ts';

export type { McpLike } from './mcp-like.ts';

/** For whom a server is made. */
export interface ServerContext {
  /** `legacy`: revisions up to 2025-11-25; `modern`: 2026-07-28. */
  era: 'legacy' | 'modern';
  /** The caller who opened the session or sent the request. Absent if one server serves all callers. */
  authInfo?: AuthInfo;
}

/**
 * Where MCP servers come from, and who shares one.
 * - `each`: every session, and every request without a session, has a server of its own.
 * - `principal`: every session has a server of its own, and the requests of one principal without a session share one.
 *   These are servers in other processes: they do not say for which call they send something.
 * - `account`: as `principal`, and all sessions and requests of one account share one, whatever the client.
 * - `everyone`: one server in another process answers all callers. It is told that its client can do nothing, and what
 *   it sends without naming a call goes to nobody.
 * - `shared`: one server an era answers all callers; who calls comes with each message.
 * - `single`: one server that was brought ready-made answers all callers; it cannot be made again.
 */
export interface ServerSource {
  sharing: 'each' | 'principal' | 'account' | 'everyone' | 'shared' | 'single';
  create(context: ServerContext): McpLike | Promise<McpLike>;
  /**
   * Returns what answers requests of 2026-07-28 itself: a server that stands elsewhere and speaks that revision. Asked
   * for every request, so it has to remember. Whoever brings it closes it.
   * @returns undefined if nothing does at present: the servers of {@link create} serve the request then
   */
  modern?(caller: Caller): Promise<Backend | undefined>;
}

/**
 * Returns true if the servers of a source stand in other processes, so that they do not say for which call they send
 * something.
 */
export function isElsewhere({ sharing }: Pick<ServerSource, 'sharing'>): boolean {
  return sharing === 'principal' || sharing === 'account' || sharing === 'everyone';
}
