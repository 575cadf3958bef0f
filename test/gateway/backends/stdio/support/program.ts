import { onTestFinished } from 'vitest';
import {
  createStdioBackend,
  type StdioBackendOptions,
} from '../../../../../src/gateway/backends/stdio/stdio-backend.ts';
import { createConversations } from '../../../../../src/mcp/sdk/conversations.ts';
import { createLogger } from '../../../../../src/observability/logger.ts';
import { openTalk, type Talk, type TalkOptions } from '../../../../mcp/sdk/support/talk.ts';
import { nodeProgram } from '../../../../support/node-program.ts';

/** A person's conversation with a program. */
export interface ProgramTalk extends Talk {
  /** Calls a tool; gives what it said, or the error. */
  tool(name: string, input?: object, meta?: object): Promise<Record<string, unknown>>;
}

/** Starts a backend of the plain program; everything ends with the test. */
export function startProgram(options: Partial<StdioBackendOptions> = {}, args: readonly string[] = []) {
  const log: string[] = [];
  const logger = createLogger('debug', (line) => log.push(line));
  const backend = createStdioBackend(
    'Notes',
    { ...nodeProgram('test/support/backend/plain.ts', ...args), ...options },
    { logger },
  );
  const conversations = createConversations({ source: backend.source, logger });
  onTestFinished(async () => {
    await conversations.close();
    await backend.close();
  });
  const open = async (about: TalkOptions = {}): Promise<ProgramTalk> => {
    const talk = await openTalk(conversations, about);
    return {
      ...talk,
      async tool(name, input = {}, meta) {
        const params = { name, arguments: input, ...(meta ? { _meta: meta } : {}) };
        const { result, error } = await talk.ask('tools/call', params);
        if (error) return { ...error };
        const text = (result?.content as { text: string }[] | undefined)?.[0]?.text ?? 'null';
        const said: unknown = JSON.parse(text);
        return typeof said === 'object' && said !== null ? (said as Record<string, unknown>) : { said };
      },
    };
  };
  return { backend, conversations, log, open };
}
