import { ProtocolError } from '@modelcontextprotocol/client';
import { ClientError } from '../client/index.ts';
import { SettingsRefused } from '../settings/issues.ts';
import type { CliError } from './cli-error.ts';
import { causes } from './commands/mcp-client/client-failure.ts';

/**
 * Formats an error as JSON: the error of an MCP server unchanged, or the reason for scripts, the sentence and the hint. It
 * contains no secret (T-191).
 * @param failure the error of the command line
 * @see JSON-RPC 2.0 section 5.1
 */
export function failureAsJson(failure: CliError): Record<string, unknown> {
  const { message, hint } = failure;
  const chain = causes(failure);
  const ours = chain.find((cause) => cause instanceof ClientError);
  const answered = chain.find((cause) => cause instanceof ProtocolError);
  if (!ours && answered instanceof ProtocolError) {
    const { code, data } = answered;
    return { code, message: answered.message, ...(data === undefined ? {} : { data }) };
  }
  const refused = chain.find((cause) => cause instanceof SettingsRefused);
  return {
    reason: ours instanceof ClientError ? ours.reason : failure.reason,
    message,
    ...(refused instanceof SettingsRefused ? { problems: refused.problems } : {}),
    ...(hint === undefined ? {} : { hint }),
  };
}
