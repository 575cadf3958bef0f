import type { McpLike, ServerSource } from '../../mcp/server-source.ts';
import type { Logger } from '../../observability/logger.ts';
import { Chain } from './chain.ts';
import type { Step } from './step.ts';
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
  return {
    ...source,
    async create(context) {
      const server = await source.create(context);
      const stepped: McpLike = {
        connect: (transport) => server.connect(new SteppedLine(transport, chain, context.authInfo)),
        close: () => server.close(),
      };
      return stepped;
    },
  };
}
