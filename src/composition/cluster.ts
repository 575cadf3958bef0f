import type { IncomingMessage, RequestListener } from 'node:http';
import { paths } from '../app/paths.ts';
import { createNodeBus, type NodeBus } from '../cluster/bus.ts';
import {
  answerUnavailable,
  deriveNodeKey,
  forwardSessions,
  type NamedSession,
  type NodePort,
  openNodePort,
} from '../cluster/forwarding.ts';
import { joinCluster, serveAlone } from '../cluster/node.ts';
import { type ReloadRelay, relayReloads } from '../cluster/relays.ts';
import type { KeySet } from '../crypto/key-schedule.ts';
import { keyedDigest } from '../crypto/secret.ts';
import { hashSessionId, type Peers, processOfSse, type SessionLease } from '../mcp/index.ts';
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
  settings: Settings;
  storage: Pick<Storage, 'nodes' | 'beginServing'>;
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
export interface Cluster extends ReloadRelay {
  /** The other nodes; undefined if this process is the only one. */
  peers: Peers | undefined;
  /** The lease of a process without peers; undefined if no other one can take its place. */
  lease: SessionLease | undefined;
  /** Returns the address of the client of a request, also of one that another node has forwarded. */
  findClientAddress: (request: IncomingMessage) => string;
  /**
   * Serves requests that other nodes forward.
   * @returns the listener for the public port: it forwards requests whose session another node serves
   */
  serve(listener: RequestListener): RequestListener;
  /** Returns true while another server serves in place of this one, and not both have a port for each other. */
  isReplaced(): boolean;
  /**
   * Shows other nodes and operators the settings after a reload.
   * @param routes the present ones; undefined if the config file could not be used
   */
  showReload(routes: Settings['routes'] | undefined): void;
  /**
   * Ends forwarded event streams, and resolves when no other forwarded request runs, from here or to here.
   * @param patienceMs maximum wait, in milliseconds; 0 by default
   */
  drain(patienceMs?: number): Promise<void>;
  /** Gives up all sessions, and leaves the other nodes. On SQLite no server may start beside it before the storage is closed. */
  close(): Promise<void>;
  /** Closes it before it has served anything: another server may start at once. */
  abandon(): Promise<void>;
}

/**
 * Joins the other nodes of the installation, if the settings have a port for them. Otherwise this process is to be the
 * only one: on SQLite by a lock, because beats would cost every installation a write a second.
 * @throws StorageFault if another process serves the installation, and not both have a port (FA-37)
 */
export async function composeCluster(parts: ClusterParts): Promise<Cluster> {
  const { settings, storage, keys, bus } = parts;
  const { port, host } = settings.cluster;
  if (port === undefined || bus === undefined) return composeAlone(parts);
  const reachedAt = readAddress(parts);
  const endServing = storage.beginServing?.(true) ?? (() => undefined);
  let nodePort: NodePort | undefined;
  try {
    const key = deriveNodeKey(keys.audit);
    nodePort = await openNodePort({ host, port, key });
    return await join({ ...parts, bus, nodePort, key, reachedAt, endServing });
  } catch (error) {
    await nodePort?.close();
    endServing();
    throw error;
  }
}

/** Composes the only server of an installation. */
async function composeAlone(parts: ClusterParts): Promise<Cluster> {
  const { storage, version, findClientAddress, now, logger } = parts;
  const endServing = storage.beginServing?.(false) ?? (() => undefined);
  const alone = storage.beginServing
    ? undefined
    : await serveAlone({ store: storage.nodes, version, now, logger });
  async function close(): Promise<void> {
    await alone
      ?.leave()
      .catch((error: unknown) => logger.warn({ err: error }, 'this server could not end its lease'));
  }
  return {
    peers: undefined,
    lease: alone,
    findClientAddress,
    serve: (listener) => (alone ? serveIf(() => alone.mayServe(), listener) : listener),
    isReplaced: () => alone?.isReplaced() === true,
    showReload: () => undefined,
    reloadOthers: async () => [],
    onReload: () => () => undefined,
    drain: async () => undefined,
    close,
    async abandon() {
      await close();
      endServing();
    },
  };
}

/** Wraps a listener: while this server may not serve, all requests but probes get 503. */
function serveIf(mayServe: () => boolean | Promise<boolean>, listener: RequestListener): RequestListener {
  return (request, response) => {
    const serve = (isAllowed: boolean): void =>
      isAllowed ? listener(request, response) : answerUnavailable(response);
    const answer = isProbe(request) || mayServe();
    if (typeof answer === 'boolean') serve(answer);
    else void answer.then(serve);
  };
}

function isProbe({ url }: IncomingMessage): boolean {
  return url === paths.health || url === paths.readiness;
}

/** Returns the address at which other nodes reach this one. @throws SettingsRefused */
function readAddress({ settings, environment }: Pick<ClusterParts, 'settings' | 'environment'>): string {
  const { host, address } = settings.cluster;
  if (address === undefined && ['0.0.0.0', '::'].includes(host))
    throw new SettingsRefused([
      `cluster.address: is required if cluster.host is ${host}: name the address at which other nodes reach this one`,
    ]);
  const reachedAt = typeof address === 'object' ? environment[address.env] : (address ?? host);
  if (reachedAt === undefined || reachedAt === '')
    throw new SettingsRefused(['cluster.address: the variable that it names is not set']);
  return reachedAt.includes(':') ? `[${reachedAt}]` : reachedAt;
}

/** Parts of {@link join}. */
interface JoiningParts extends ClusterParts {
  bus: NodeBus;
  nodePort: NodePort;
  key: Buffer;
  reachedAt: string;
  endServing: () => void;
}

/** Joins the other nodes, with an open port for them. */
async function join(parts: JoiningParts): Promise<Cluster> {
  const { settings, storage, keys, bus, nodePort, key, reachedAt, endServing } = parts;
  const { version, findClientAddress, now, logger } = parts;
  const address = `${reachedAt}:${nodePort.port}`;
  const settingsHash = hashSettings(settings, keys);
  const node = await joinCluster({ store: storage.nodes, address, version, settingsHash, now, logger });
  try {
    await bus.join(node);
  } catch (error) {
    await node.leave().catch(() => undefined);
    throw error;
  }
  let isServing = false;
  let isClosed = false;
  const isForwarded = (request: IncomingMessage): boolean => nodePort.clientAddressOf(request) !== undefined;
  const forwarding = forwardSessions({ node, key, isForwarded, sessionOf, findClientAddress, logger });
  const idleEnders = new Set<(key: string) => Promise<boolean>>();
  const endIdle = async (sessionKey: string): Promise<boolean> => {
    for (const end of idleEnders) if (await end(sessionKey)) return true;
    return false;
  };
  const { sessions } = node;
  async function close(): Promise<void> {
    isClosed = true;
    forwarding.close();
    await bus.close();
    await node
      .leave()
      .catch((error: unknown) => logger.warn({ err: error }, 'this node could not give up its sessions'));
    // Last: whoever meets the closed port finds out that the node has left, and so has run nothing of the request.
    await nodePort.close();
  }
  return {
    peers: {
      id: node.id,
      sessions: {
        ...sessions,
        endIdle: (sessionKey, processId) => forwarding.endIdleSession(processId, sessionKey),
        onEndIdle(end) {
          idleEnders.add(end);
          return () => idleEnders.delete(end);
        },
      },
      isAlive: async (id) => (await node.find(id)) !== undefined,
      forward: (...request) => forwarding.forwardJudged(...request),
      hasCounted: (request) => nodePort.isJudged(request),
    },
    lease: undefined,
    findClientAddress: (request) => nodePort.clientAddressOf(request) ?? findClientAddress(request),
    serve(listener) {
      const isFor = (id: string): boolean => id === node.id && node.isCurrent() && !isClosed;
      // Of several servers that are attached, one serves the other nodes.
      if (!isServing) nodePort.serve(listener, isFor, endIdle);
      isServing = true;
      return serveIf(() => !node.isReplaced(), forwarding.wrap(listener));
    },
    isReplaced: node.isReplaced,
    showReload(routes) {
      if (!routes) node.show({ refusesFile: true });
      else node.show({ refusesFile: false, settingsHash: hashSettings({ ...settings, routes }, keys) });
    },
    ...relayReloads(bus, node, logger),
    async drain(patienceMs = 0) {
      await Promise.all([forwarding.drain(patienceMs), nodePort.drain(patienceMs)]);
    },
    close,
    async abandon() {
      await close();
      endServing();
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

/** Settings that each machine has for itself. */
const ofMachine = ['listen', 'data', 'storage', 'cluster', 'log', 'metrics', 'scheduling'] as const;

/** Returns a digest of the settings that all nodes should have alike. */
function hashSettings(settings: Settings, keys: Pick<KeySet, 'audit'>): string {
  const shared: Partial<Settings> = { ...settings };
  for (const name of ofMachine) delete shared[name];
  return keyedDigest(keys.audit, 'settings', JSON.stringify(shared)).slice(0, 16);
}
