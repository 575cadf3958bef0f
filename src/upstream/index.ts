/** Upstreams: identity providers by which people log in, and servers for which backends get tokens. */

export {
  checkUpstreams,
  createUpstreams,
  findSharedIssuers,
  type KnownResource,
} from './create-upstreams.ts';
export { createBackChannelLogout, type UsedLogoutTokens } from './links/back-channel-logout.ts';
export { createLinkEvents, type LinkEvents } from './links/link-events.ts';
export { startLinkMonitor } from './links/link-monitor.ts';
export { createLinkStatus, type LinkStatus } from './links/link-status.ts';
export { type CallerApi, createCallerApi } from './tools/caller-api.ts';
export { createCallerTokens } from './tools/caller-tokens.ts';
export type { UpstreamFault } from './upstream-fault.ts';
