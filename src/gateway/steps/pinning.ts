import type { Logger } from '../../observability/logger.ts';
import { calledTool } from './called-tool.ts';
import { type Entry, withEntries } from './listed.ts';
import type { Answer, Step } from './step.ts';
import type { ToolDefinitions } from './tool-definitions.ts';
import type { ToolPins } from './tool-pins.ts';

/** What is done about a tool whose definition changed: it is told, or it may not be used until it is accepted. */
export type OnToolChange = 'warn' | 'block';

/** What the step works with. */
export interface PinningOptions {
  pins: Pick<ToolPins, 'review'>;
  onChange: OnToolChange;
  definitions: Pick<ToolDefinitions, 'find'>;
  logger: Pick<Logger, 'error'>;
}

/**
 * Creates the step that notices tools whose definitions change (T-160). Where they are blocked, a changed tool is not
 * listed, and calling it is an error, until the operator accepts it; so is one that the server does not list at all.
 */
export function createPinning({ pins, onChange, definitions, logger }: PinningOptions): Step {
  const isBlocking = onChange === 'block';
  const review = async (tools: readonly Entry[]): Promise<ReadonlySet<string>> => {
    try {
      return await pins.review(tools);
    } catch (error) {
      if (isBlocking) throw error;
      logger.error({ err: error }, 'definitions of tools could not be compared with those remembered');
      return new Set();
    }
  };

  return {
    cares: (method) => method === 'tools/list' || (isBlocking && method === 'tools/call'),
    async answer(request, passing, next) {
      if (request.method === 'tools/call') {
        const { name, tool, answer } = await calledTool(definitions, request, passing);
        if (answer) return answer;
        const changed = await review([tool]);
        return changed.size > 0 ? blocked(name) : next(request);
      }
      return withEntries(request.method, await next(request), async (tools) => {
        const changed = await review(tools);
        return isBlocking ? tools.filter(({ name }) => !changed.has(String(name))) : tools;
      });
    },
  };
}

function blocked(tool: string): Answer {
  const message = `The definition of the tool ${tool} changed since the operator of this gateway accepted it. It can be called again when they have accepted the change.`;
  return { error: { code: -32000, message, data: { reason: 'tool_definition_changed' } } };
}
