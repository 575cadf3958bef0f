import type { Command } from 'commander';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../output.ts';
import { programName } from '../program-name.ts';
import { withServer } from './with-server.ts';

/** Longest description shown in the table, in characters. */
const maxDescription = 60;

/** A tool, as far as it is shown. */
interface ShownTool {
  name: string;
  description?: string | undefined;
  inputSchema: Record<string, unknown>;
}

function describeArguments(schema: Record<string, unknown>): string {
  const properties = Object(schema.properties) as Record<string, unknown>;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(properties)
    .map(([name, property]) => {
      const { type } = Object(property) as Record<string, unknown>;
      return printableLine(
        `${name}${required.has(name) ? '' : '?'}: ${typeof type === 'string' ? type : 'any'}`,
      );
    })
    .join(', ');
}

/**
 * Writes tools as a table: name, description, arguments; optional arguments have a question mark.
 * @param tools what the server listed
 * @returns text that is fit for a terminal (T-190)
 */
export function formatTools(tools: readonly ShownTool[]): string {
  const rows = tools.map(({ name, description = '', inputSchema }) => {
    const text = printableLine(description);
    const shown = text.length > maxDescription ? `${text.slice(0, maxDescription - 1)}…` : text;
    return [printableLine(name), shown, describeArguments(inputSchema)];
  });
  return formatTable([['NAME', 'DESCRIPTION', 'ARGUMENTS'], ...rows]);
}

/**
 * `gatehouse tools`: lists the tools of an MCP server.
 * @param url URL of the MCP server
 * @param options `json`: print them as JSON
 * @param io the surroundings
 * @throws CliError
 */
export async function runTools(url: string, options: { json?: boolean }, io: CommandIo): Promise<void> {
  const { tools } = await withServer(url, io, (client) => client.listTools());
  io.stdout.write(options.json ? formatJson(tools) : formatTools(tools));
}

/**
 * Adds `gatehouse tools`.
 * @param program the command line
 * @param io the surroundings
 */
export function registerTools(program: Command, io: CommandIo = processIo()): void {
  program
    .command('tools')
    .description('list the tools of an MCP server you are logged in to')
    .argument('<url>', 'URL of the MCP server')
    .option('--json', 'print them as JSON')
    .addHelpText('after', `\nExample:\n  ${programName} tools http://localhost:3000/mcp`)
    .action((url: string, options: { json?: boolean }) => runTools(url, options, io));
}
