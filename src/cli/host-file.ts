import { readFileSync } from 'node:fs';
import { parseJsonWithComments } from '../doctor/machine/hosts/json-with-comments.ts';
import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';
import { printableLine } from './output.ts';

/** Members under which hosts keep their servers. */
const serverMembers = ['mcpServers', 'servers'];

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readDocument(file: string): unknown {
  const refused = (fault: string): CliError =>
    new CliError(`${printableLine(file)}: ${fault}.`, exitCodes.usage);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw refused(isMissing ? 'there is no such file' : 'the file cannot be read');
  }
  try {
    return parseJsonWithComments(text);
  } catch {
    // The message of JSON.parse repeats the text around the fault, which may be a secret.
    throw refused('is no JSON');
  }
}

/**
 * Reads the MCP servers out of the configuration of a desktop host.
 * @param file path of a file such as claude_desktop_config.json, .mcp.json, or mcp.json of Cursor or VS Code
 * @returns the block as it stands there, for `mcpServers` of the settings
 * @throws CliError where there is none; it repeats nothing of the file
 */
export function readHostFile(file: string): Record<string, unknown> {
  const document = readDocument(file);
  const blocks = isObject(document) ? serverMembers.map((member) => document[member]) : [];
  const block = blocks.find(isObject);
  if (block && Object.keys(block).length > 0) return block;
  throw new CliError(
    `${printableLine(file)}: has no MCP servers.`,
    exitCodes.usage,
    'They stand under "mcpServers", or in files of VS Code under "servers".',
  );
}
