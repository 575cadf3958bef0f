import { plainJson } from '../../collections/exact-json.ts';
import { missingInputOf } from '../../mcp/building-blocks.ts';
import { accountKeyPrefix } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { type Logger, loggable } from '../../observability/logger.ts';
import type { ArgumentChecks, Checked } from './argument-checks.ts';
import { askedFor } from './asked-for.ts';
import { cleanText } from './clean-text.ts';
import type { Answer, Passing, Step } from './step.ts';
import type { ToolDefinitions } from './tool-definitions.ts';

/** Options of the step. */
export interface CheckedArgumentsOptions {
  /** Name of the server. */
  name: string;
  definitions: Pick<ToolDefinitions, 'find'>;
  checks: Pick<ArgumentChecks, 'check'>;
  logger: Pick<Logger, 'warn'>;
}

/**
 * Creates the step that checks the arguments of calls by the schema the server lists for the tool. Arguments that do
 * not fit are an error of the tool, which the model reads; a tool the server does not list is left to the server. If
 * the list needs what the person has still to give, that is the answer.
 * @see MCP 2025-11-25 tools "Error Handling"
 */
export function createCheckedArguments({ name, definitions, checks, logger }: CheckedArgumentsOptions): Step {
  const answerFor = (tool: string, checked: Checked, passing: Passing): Answer | undefined => {
    if (!('unchecked' in checked))
      return checked.problem === undefined ? undefined : doesNotFit(tool, checked.problem, passing);
    if (checked.unchecked === 'too_many') return tooMany;
    logger.warn(
      { backend: name, tool: loggable(tool), reason: checked.unchecked },
      'arguments of a call could not be checked by the schema of its tool',
    );
    return cannotCheck(tool, name);
  };

  return {
    cares: (method) => method === 'tools/call',
    async answer(request, passing, next) {
      const tool = askedFor(request)?.name ?? '';
      const { tool: definition, error } = await definitions.find(tool, passing);
      if (error && missingInputOf(error)) return { error };
      const schema = definition?.inputSchema;
      if (typeof schema !== 'object' || schema === null) return next(request);
      const account = passing.caller ? accountKeyPrefix(passing.caller) : '';
      const given = plainJson(request.params?.arguments ?? {});
      const checked = await checks.check(account, plainJson(schema), given);
      return answerFor(tool, checked, passing) ?? next(request);
    },
  };
}

function doesNotFit(tool: string, problem: string, { era }: Passing): Answer {
  const text = `The arguments do not fit the input schema of ${tool}. ${cleanText(problem)} Correct them and call the tool again.`;
  const complete = era === 'modern' ? { resultType: 'complete' } : {};
  return { result: { ...complete, content: [{ type: 'text', text }], isError: true } };
}

const tooMany: Answer = {
  error: {
    code: -32000,
    message: 'Too many calls of your account wait for their arguments to be checked. Try again in 1 s.',
    data: { reason: 'arguments_not_checked', retryAfterSeconds: 1 },
  },
};

function cannotCheck(tool: string, name: string): Answer {
  const message = `The arguments could not be checked by the input schema the MCP server ${name} gives for ${tool}, so it was not called. Try other arguments; if it stays so, tell its operator.`;
  return { error: { code: errorCodes.internalError, message, data: { reason: 'arguments_not_checked' } } };
}
