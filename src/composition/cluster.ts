import type { IncomingMessage, RequestListener } from 'node:http';
import { deriveNodeKey, forwardSessions, type NamedSession, openNodePort } from '../cluster/forwarding.ts';
import { joinCluster } from '../cluster/node.ts';
import type { KeySet } from '../crypto/key-schedule.ts';
import { hashSessionId, processOfSse, type SessionOwnership } from '../mcp/index.ts';
import type { Logger } from '../observability/logger.ts';
import type { Settings } from '../options.ts';
import { SettingsRefused } from '../settings/issues.ts';
import type { Storage } from '../storage/storage.ts';

/** Parts of {@link composeCluster}. */
export interface ClusterParts {
  settings: Pick<Settings, 'cluster'>;
  storage: Pick<Storage, 'nodes'>;
  keys: Pick<KeySet, 'audit'>;
  version: string;
  environment: NodeJS.ProcessEnv;
  findClientAddress: (request: IncomingMessage) => string;
  /** Epoch seconds. */
  now: () => number;
  logger: Logger;
}

/** This process as a node of the installation. */
export interface Cluster {
  /** Settles which node serves a session; undefined if this process is the only one. */
  ownership: SessionOwnership | undefined;
  /** Returns the address of the client of a request, also of one that another node has forwarded. */
  findClientAddress: (request: IncomingMessage) => string;
  /**
   * Serves requests that other nodes forward.
   * @returns the listener for the public port: it forwards requests whose session another node serves
   */
  serve(listener: RequestListener): RequestListener;
  /** Takes no more requests of other nodes, and gives up all sessions. */
  close(): Promise<void>;
}

/** Joins the other nodes of the installation, if the settings have a port for them. */
export async function composeCluster(parts: ClusterParts): Promise<Cluster> {
  const { settings, storage, keys, version, environment, findClientAddress, now, logger } = parts;
  const { port, host, address } = settings.cluster;
  if (port === undefined)
    return {
      ownership: undefined,
      findClientAddress,
      serve: (listener) => listener,
      close: async () => undefined,
    };
  const reachedAt = typeof address === 'object' ? environment[address.env] : (address ?? host);
  if (reachedAt === undefined || reachedAt === '')
    throw new SettingsRefused(['cluster.address: the variable that it names is not set']);
  const key = deriveNodeKey(keys.audit);
  const nodePort = await openNodePort({ host, port, key });
  const at = reachedAt.includes(':') ? `[${reachedAt}]` : reachedAt;
  const node = await joinCluster({
    ...{ store: storage.nodes, address: `${at}:${nodePort.port}`, version, now, logger },
  }).catch((error: unknown) => {
    nodePort.close();
    throw error;
  });
  const forwarding = forwardSessions({ node, key, sessionOf, findClientAddress, logger });
  return {
    ownership: node.sessions,
    findClientAddress: (request) => nodePort.clientAddressOf(request) ?? findClientAddress(request),
    serve(listener) {
      nodePort.serve(listener);
      return forwarding.wrap(listener);
    },
    async close() {
      nodePort.close();
      forwarding.close();
      await node.leave();
    },
  };
}

/** Returns the session that a request names: in the header, or for HTTP+SSE in the query. */
function sessionOf({ headers, url = '' }: IncomingMessage): NamedSession | undefined {
  const id = headers['mcp-session-id'];
  if (typeof id === 'string' && id !== '') return { key: hashSessionId(id) };
  const ofStream = /[?&]sessionId=([^&#]{1,200})/.exec(url)?.[1];
  const nodeId = ofStream && processOfSse(ofStream);
  return nodeId === undefined || nodeId === '' ? undefined : { nodeId };
}
