import type { Step } from '../../../../src/gateway/steps/step.ts';
import { withSteps } from '../../../../src/gateway/steps/with-steps.ts';
import type { ServerSource } from '../../../../src/mcp/protocol.ts';
import { createLogger } from '../../../../src/observability/logger.ts';
import { openTalk, startConversations, type Talk, type TalkOptions } from '../../../mcp/sdk/support/talk.ts';
import { type Answers, RawServer } from './raw-server.ts';

/** A server behind steps, and what they wrote to the log. */
export interface Stepped {
  server: RawServer;
  log: Record<string, unknown>[];
  talk: (options?: TalkOptions) => Promise<Talk>;
}

/** Puts steps before one server of a test, which serves all who talk with it. */
export function stepped(
  steps: readonly Step[],
  answers: Answers = {},
  sharing: ServerSource['sharing'] = 'shared',
): Stepped {
  const server = new RawServer(answers);
  const log: Record<string, unknown>[] = [];
  const logger = createLogger('debug', (line) => log.push(JSON.parse(line)));
  const source = withSteps({ sharing, create: () => server }, steps, logger);
  const conversations = startConversations(sharing, () => source.create({ era: 'legacy' }));
  return { server, log, talk: (options) => openTalk(conversations, options) };
}
