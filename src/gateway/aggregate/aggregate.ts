import { randomBytes } from 'node:crypto';
import { createConversations, createCursors } from '../../mcp/building-blocks.ts';
import type { Logger } from '../../observability/logger.ts';
import type { GatewayBackend } from '../backends/gateway-backend.ts';
import { AggregateServer } from './aggregate-server.ts';
import { backendKeyForm } from './final-names.ts';
import { joinStatus, type NamedBackend } from './joined-status.ts';
import type { MemberBackend } from './member.ts';

/**
 * Creates a backend that is made of several, behind one path: all names of each have its key before them. Whether
 * people share one of them is as it would be alone; none is begun with before somebody needs it.
 * @param name what people call it
 * @throws RangeError for a key that cannot stand before names, or that two have
 */
export function createAggregate(
  name: string,
  parts: readonly NamedBackend[],
  { logger }: { logger: Logger },
): GatewayBackend {
  const keys = parts.map(({ key }) => key);
  for (const key of keys)
    if (!backendKeyForm.test(key) || keys.indexOf(key) !== keys.lastIndexOf(key))
      throw new RangeError(
        `${key}: the keys of backends are 1 to 20 lower case letters, digits and hyphens, begin with a letter, and differ`,
      );
  const cursors = createCursors({ key: randomBytes(32) });
  const backends: MemberBackend[] = parts.map(({ key, name: own, backend }) => ({
    key,
    name: own,
    conversations: createConversations({ source: backend.source, logger }),
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
      await Promise.all([...servers].map((server) => server.close()));
      await Promise.all(backends.map(({ conversations }) => conversations.close()));
      await Promise.all(parts.map(({ backend }) => backend.close()));
    },
  };
}
