import type { Backend, McpLike, ServerSource } from '../../mcp/protocol.ts';
import type { Logger } from '../../observability/logger.ts';
import { Chain } from './chain.ts';
import type { Step } from './step.ts';
import { steppedBackend } from './stepped-backend.ts';
import { SteppedLine } from './stepped-line.ts';

/**
 * Puts steps in front of the servers of a source, which stand elsewhere. Requests of the front go through them;
 * notifications, answers, cancellations and what the server asks its client pass as they are.
 * @param steps the first is the nearest to the client
 */
export function withSteps(
  source: ServerSource,
  steps: readonly Step[],
  logger: Pick<Logger, 'error'>,
): ServerSource {
  const chain = new Chain(steps, logger);
  const brought = new WeakMap<Backend, Backend>();
  const stepped = (backend: Backend): Backend => {
    const known = brought.get(backend) ?? steppedBackend(backend, chain);
    brought.set(backend, known);
    return known;
  };
  return {
    sharing: source.sharing,
    async create(context): Promise<McpLike> {
      const server = await source.create(context);
      return {
        connect: (transport) => server.connect(new SteppedLine(transport, chain, context.authInfo)),
        close: () => server.close(),
      };
    },
    ...(source.modern && {
      async modern(caller) {
        const backend = await source.modern?.(caller);
        return backend && stepped(backend);
      },
    }),
  };
}
