import { ProtocolError } from '@modelcontextprotocol/client';
import { AdministrationRefused } from '../authorization-server/administration/administration-refused.ts';
import { ClientError } from '../client/index.ts';
import { SettingsRefused } from '../settings/issues.ts';
import { DatabaseLocked } from '../storage/sqlite/connection/exclusive-lock.ts';
import { KeyFileFault } from '../storage/sqlite/index.ts';
import { StorageFault, StorageUnavailable } from '../storage/storage.ts';
import { CliError, exitCodes } from './cli-error.ts';
import { causes } from './commands/mcp-client/client-failure.ts';

/**
 * Maps an error of the server or its data to a sentence and an exit code.
 * @param error what a command threw
 * @returns the sentence with its exit code, whose cause it is; undefined for an unexpected error
 */
export function explainServerFailure(error: unknown): CliError | undefined {
  const explained = explain(error);
  if (explained) explained.cause = error;
  return explained;
}

function explain(error: unknown): CliError | undefined {
  const { usage, cannotServe } = exitCodes;
  if (error instanceof SettingsRefused)
    return new CliError(error.message, usage, undefined, 'settings_refused');
  if (error instanceof AdministrationRefused)
    return new CliError(error.message, usage, undefined, error.reason);
  if (error instanceof DatabaseLocked)
    return new CliError(error.message, cannotServe, undefined, 'database_held');
  if (error instanceof StorageFault)
    return new CliError(error.message, cannotServe, undefined, 'database_unusable');
  if (error instanceof KeyFileFault)
    return new CliError(error.message, cannotServe, undefined, 'key_file_unusable');
  if (error instanceof StorageUnavailable)
    return new CliError(error.message, cannotServe, undefined, 'storage_unavailable');
  return undefined;
}

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
