import type { IncomingMessage, RequestListener } from 'node:http';
import { paths } from '../app/paths.ts';
import { createNodeBus, type NodeBus } from '../cluster/bus.ts';
import { deriveNodeKey, forwardSessions, type NamedSession, openNodePort } from '../cluster/forwarding.ts';
import { joinCluster } from '../cluster/node.ts';
import type { KeySet } from '../crypto/key-schedule.ts';
import { hashSessionId, processOfSse, type SessionOwnership } from '../mcp/index.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Settings } from '../options.ts';
import { SettingsRefused } from '../settings/issues.ts';
import type { Storage } from '../storage/storage.ts';

/** Parts of {@link composeBus}. */
export interface BusParts {
  settings: Pick<Settings, 'cluster'>;
  storage: Pick<Storage, 'nodeMessages'>;
  keys: Pick<KeySet, 'audit'>;
  metrics: Pick<Metrics, 'watch'>;
  logger: Logger;
}

/** Composes the messages to other nodes; undefined if the settings have no port for them. They begin once it has joined. */
export function composeBus({ settings, storage, keys, metrics, logger }: BusParts): NodeBus | undefined {
  if (settings.cluster.port === undefined) return undefined;
  const bus = createNodeBus({ store: storage.nodeMessages, secret: keys.audit, logger });
  metrics.watch(
    'gatehouse_node_messages_unreadable',
    'Messages of other nodes that could not be opened.',
    () => bus.unreadable,
  );
  return bus;
}

/** Parts of {@link composeCluster}. */
export interface ClusterParts {
  settings: Pick<Settings, 'cluster'>;
  storage: Pick<Storage, 'nodes'>;
  keys: Pick<KeySet, 'audit'>;
  /** Undefined if the settings have no port for other nodes. */
  bus: NodeBus | undefined;
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
  /** Takes no more requests of other nodes. */
  stopServing(): void;
  /** Gives up all sessions, and leaves the other nodes. */
  close(): Promise<void>;
}

/** Joins the other nodes of the installation, if the settings have a port for them. */
export async function composeCluster(parts: ClusterParts): Promise<Cluster> {
  const { settings, storage, keys, bus, version, environment, findClientAddress, now, logger } = parts;
  const { port, host, address } = settings.cluster;
  if (port === undefined || bus === undefined)
    return {
      ownership: undefined,
      findClientAddress,
      serve: (listener) => listener,
      stopServing: () => undefined,
      close: async () => undefined,
    };
  if (address === undefined && ['0.0.0.0', '::'].includes(host))
    throw new SettingsRefused([
      `cluster.address: is required if cluster.host is ${host}: name the address at which other nodes reach this one`,
    ]);
  const reachedAt = typeof address === 'object' ? environment[address.env] : (address ?? host);
  if (reachedAt === undefined || reachedAt === '')
    throw new SettingsRefused(['cluster.address: the variable that it names is not set']);
  const key = deriveNodeKey(keys.audit);
  const nodePort = await openNodePort({ host, port, key });
  const at = reachedAt.includes(':') ? `[${reachedAt}]` : reachedAt;
  const node = await joinCluster({
    ...{ store: storage.nodes, address: `${at}:${nodePort.port}`, version, settingsHash: '', now, logger },
  }).catch((error: unknown) => {
    nodePort.close();
    throw error;
  });
  await bus.join(node);
  let isServing = false;
  let isStopping = false;
  const forwarding = forwardSessions({ node, key, sessionOf, findClientAddress, logger });
  return {
    ownership: node.sessions,
    findClientAddress: (request) => nodePort.clientAddressOf(request) ?? findClientAddress(request),
    serve(listener) {
      // Of several servers that are attached, one serves the other nodes.
      if (!isServing) nodePort.serve(listener, (id) => id === node.id && node.isCurrent() && !isStopping);
      isServing = true;
      return forwarding.wrap(listener);
    },
    stopServing() {
      isStopping = true;
    },
    async close() {
      isStopping = true;
      nodePort.close();
      forwarding.close();
      await bus.close();
      await node
        .leave()
        .catch((error: unknown) => logger.warn({ err: error }, 'this node could not give up its sessions'));
    },
  };
}

/** Returns the session that a request of an MCP endpoint names: in the header, or for HTTP+SSE in the query. */
function sessionOf({ headers, url = '' }: IncomingMessage): NamedSession | undefined {
  const [path = ''] = url.split('?', 1);
  const id = headers['mcp-session-id'];
  if (path.endsWith(paths.mcp) && typeof id === 'string' && id !== '') return { key: hashSessionId(id) };
  if (!path.endsWith(paths.messages)) return undefined;
  const ofStream = /[?&]sessionId=([^&#]{1,200})/.exec(url)?.[1];
  const nodeId = ofStream && processOfSse(ofStream);
  return nodeId === undefined || nodeId === '' ? undefined : { nodeId };
}
