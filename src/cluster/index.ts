export { deriveNodeKey, forwardSessions, openNodePort } from './forwarding.ts';
export { joinCluster } from './node.ts';
