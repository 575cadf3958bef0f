import { calledTool } from './called-tool.ts';
import { type Entry, withEntries } from './listed.ts';
import { notFound } from './not-found.ts';
import type { Step } from './step.ts';
import type { ToolDefinitions } from './tool-definitions.ts';

/**
 * Creates the step that allows only tools that the server declares as read-only: `readOnlyHint` is the server's word,
 * and the operator trusts it. A tool without the hint, and one that is not listed, do not exist for the caller. If the
 * server gives no list, why it gives none is the answer to a call: a key is missing, or it cannot be reached.
 * @see MCP 2025-11-25 schema `ToolAnnotations`
 */
export function createReadOnly(definitions: Pick<ToolDefinitions, 'find'>): Step {
  return {
    cares: (method) => method === 'tools/list' || method === 'tools/call',
    async answer(request, passing, next) {
      if (request.method === 'tools/call') {
        const { name, tool, answer } = await calledTool(definitions, request, passing);
        if (answer) return answer;
        return isReadOnly(tool) ? next(request) : notFound('tool', name, passing);
      }
      return withEntries(request.method, await next(request), (tools) => tools.filter(isReadOnly));
    },
  };
}

function isReadOnly({ annotations }: Entry): boolean {
  return (annotations as { readOnlyHint?: unknown } | null | undefined)?.readOnlyHint === true;
}
