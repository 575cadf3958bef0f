import type { RequestMessage } from '../../mcp/protocol.ts';
import { askedFor } from './asked-for.ts';
import type { Entry } from './listed.ts';
import { notFound } from './not-found.ts';
import type { Answer, Passing } from './step.ts';
import type { ToolDefinitions } from './tool-definitions.ts';

/** The tool a call is for, as its server defines it; or the answer to a call that is for none. */
export type CalledTool =
  | { name: string; tool: Entry; answer?: undefined }
  | { answer: Answer; name?: undefined; tool?: undefined };

/**
 * Looks up the tool a call is for. One the server does not list is not there; if it gives no list, the answer says why:
 * a key is missing, or it cannot be reached.
 * @param request a `tools/call`
 */
export async function calledTool(
  definitions: Pick<ToolDefinitions, 'find'>,
  request: RequestMessage,
  passing: Passing,
): Promise<CalledTool> {
  const name = askedFor(request)?.name ?? '';
  const { tool, error } = await definitions.find(name, passing);
  if (error) return { answer: { error } };
  return tool ? { name, tool } : { answer: notFound('tool', name, passing) };
}
