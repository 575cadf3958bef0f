import { allEnded, endInOrder } from '../../collections/closing.ts';
import { type Cursors, createConversations } from '../../mcp/building-blocks.ts';
import type { ChangeRelay } from '../../mcp/protocol.ts';
import type { Logger } from '../../observability/logger.ts';
import type { BackendStatus, GatewayBackend } from '../backends/gateway-backend.ts';
import { AggregateServer } from './aggregate-server.ts';
import { backendKeyForm } from './final-names.ts';
import type { MemberBackend } from './member.ts';

/**
 * Creates one backend out of several, behind one path. The names of each backend get its key as a prefix, each backend
 * keeps its sharing, and none is started before it is needed.
 * @param name display name
 * @throws RangeError for an invalid or repeated key
 */
export function createAggregate(
  name: string,
  parts: readonly NamedBackend[],
  { cursors, logger }: { cursors: Cursors; logger: Logger },
): GatewayBackend {
  const keys = parts.map(({ key }) => key);
  for (const key of keys)
    if (!backendKeyForm.test(key) || keys.indexOf(key) !== keys.lastIndexOf(key))
      throw new RangeError(
        `${key}: the keys of backends are 1 to 20 lower case letters, digits and hyphens, begin with a letter, and differ`,
      );
  const backends: MemberBackend[] = parts.map(({ key, name: own, backend, relay }) => ({
    key,
    name: own,
    conversations: createConversations({ source: backend.source, relay, logger }),
  }));
  const servers = new Set<AggregateServer>();
  return {
    source: {
      sharing: 'principal',
      create({ authInfo }) {
        const closed = (server: AggregateServer): void => void servers.delete(server);
        const server = new AggregateServer({ name, backends, cursors, logger, authInfo, closed });
        servers.add(server);
        return server;
      },
    },
    status: () => joinStatus(parts),
    async close() {
      await endInOrder([
        () => allEnded([...servers].map((server) => server.close())),
        () => allEnded(backends.map(({ conversations }) => conversations.close())),
        () => allEnded(parts.map(({ backend }) => backend.close())),
      ]);
    },
  };
}

/** One of several backends: its key, and its name in errors and in the log. */
interface NamedBackend {
  key: string;
  name: string;
  backend: GatewayBackend;
  /** Carries its changes to other nodes; absent if there are none. */
  relay?: ChangeRelay | undefined;
}

/** Joins the status of several backends: sums, the last failure, and the status of each by its key. */
export function joinStatus(parts: readonly Pick<NamedBackend, 'key' | 'backend'>[]): BackendStatus {
  const each = parts.map(({ key, backend }) => [key, backend.status()] as const);
  const all = each.map(([, status]) => status);
  const states = all.map(({ state }) => state);
  const sum = (count: (status: BackendStatus) => number | undefined): number =>
    all.reduce((total, status) => total + (count(status) ?? 0), 0);
  const last = all
    .flatMap(({ failures }) => failures.last ?? [])
    .sort((a, b) => b.at - a.at)
    .at(0);
  return {
    kind: 'several',
    state: states.includes('failing') ? 'failing' : states.includes('running') ? 'running' : 'idle',
    processes: sum(({ processes }) => processes),
    connections: sum(({ connections }) => connections),
    failures: { count: sum(({ failures }) => failures.count), ...(last && { last }) },
    backends: Object.fromEntries(each),
  };
}
