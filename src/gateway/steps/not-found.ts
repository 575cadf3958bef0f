import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { Listed } from './listed.ts';
import type { Answer, Passing } from './step.ts';

/** Most of a name that is repeated, in characters. */
const maxShown = 200;

/**
 * Builds the response of a server that does not have the requested item; a forbidden item does not exist for the
 * caller.
 * @see MCP 2025-11-25 resources "Error Handling": -32002; 2026-07-28 has -32602 for all
 */
export function notFound(kind: Listed['kind'], name: string, { era }: Pick<Passing, 'era'>): Answer {
  const shown = name.slice(0, maxShown);
  if (kind === 'tool')
    return { error: { code: errorCodes.invalidParams, message: `Tool ${shown} not found` } };
  if (kind === 'prompt')
    return { error: { code: errorCodes.invalidParams, message: `Prompt ${shown} not found` } };
  const code = era === 'legacy' ? errorCodes.resourceNotFound : errorCodes.invalidParams;
  return { error: { code, message: `Resource ${shown} not found`, data: { uri: shown } } };
}
