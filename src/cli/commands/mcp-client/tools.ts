import type { Command } from 'commander';
import { unmarkedJson } from '../../../collections/exact-json.ts';
import {
  type CommandIo,
  createPaint,
  formatJson,
  type Paint,
  printableLine,
  processIo,
  programName,
} from '../../output.ts';
import { startProgressLine } from '../../progress-line.ts';
import { formatFittedTable } from '../../table.ts';
import { addConnectionOptions, type ConnectionOptions } from './connection-options.ts';
import { requestOptions, withServer } from './with-server.ts';

/** Longest description in a table, in characters. */
const maxDescription = 200;

/** A tool, as far as it is shown. */
interface ShownTool {
  name: string;
  description?: string | undefined;
  inputSchema: Record<string, unknown>;
}

function describeType(property: unknown): string {
  const { type, enum: values, const: only } = Object(property) as Record<string, unknown>;
  if (Array.isArray(values)) return values.map(String).join('|');
  if (only !== undefined) return String(only);
  if (Array.isArray(type)) return type.map(String).join('|');
  return typeof type === 'string' ? type : 'any';
}

function describeArguments(schema: Record<string, unknown>): string {
  const properties = Object(schema.properties) as Record<string, unknown>;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const described = Object.entries(properties)
    .map(([name, property]) => `${name}${required.has(name) ? '' : '?'}: ${describeType(property)}`)
    .join(', ');
  return unmarkedJson(described);
}

/** Returns the start of a long text. */
export function shortened(text: string, length = maxDescription): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/**
 * Writes tools as a table: name, description, arguments; optional arguments have a question mark.
 * @param tools what the server listed
 * @param options width of the terminal, and colours
 * @returns text that is safe for a terminal (T-190)
 */
export function formatTools(
  tools: readonly ShownTool[],
  options: { width?: number | undefined; paint: Paint },
): string {
  const rows = tools.map(({ name, description = '', inputSchema }) => [
    name,
    shortened(description),
    describeArguments(inputSchema),
  ]);
  return formatFittedTable(['NAME', 'DESCRIPTION', 'ARGUMENTS'], rows, options);
}

/** Options of `gatehouse tools`, as commander parses them. */
export interface ToolsOptions extends ConnectionOptions {
  json?: boolean;
}

/** Member in which a gateway to several servers lists the servers that did not respond; docs/gateway.md. */
const unavailableMember = 'mcp-gatehouse/unavailable';

/** Returns the reasons why tools are missing. */
function missingOf(meta: Record<string, unknown> | undefined): string[] {
  const missing = meta?.[unavailableMember];
  if (!Array.isArray(missing)) return [];
  return missing.map((one) => Object(one).message).filter((message) => typeof message === 'string');
}

/**
 * Runs `gatehouse tools`: lists the tools of an MCP server.
 * @param url URL of the MCP server
 * @param options `json`: print `{ "tools": […] }`, with `_meta` if some are missing
 * @throws CliError
 */
export async function runTools(url: string, options: ToolsOptions, io: CommandIo): Promise<void> {
  const waiting = startProgressLine(io, `Asking ${url} for its tools`);
  const listed: { tools: ShownTool[]; _meta?: Record<string, unknown> | undefined } = await withServer(
    url,
    io,
    // The SDK writes to standard output if a server does not have the capability.
    async (client) =>
      client.getServerCapabilities()?.tools
        ? client.listTools(undefined, requestOptions(options))
        : { tools: [] },
    options,
  ).finally(() => waiting.end());
  const { tools } = listed;
  const missing = missingOf(listed._meta);
  for (const message of missing) io.stderr.write(`Not all tools are listed: ${printableLine(message)}\n`);
  const unavailable = listed._meta?.[unavailableMember];
  if (options.json)
    io.stdout.write(
      formatJson({
        tools,
        ...(unavailable === undefined ? {} : { _meta: { [unavailableMember]: unavailable } }),
      }),
    );
  else if (tools.length === 0) {
    if (missing.length === 0) io.stderr.write('The server has no tools.\n');
  } else
    io.stdout.write(formatTools(tools, { width: io.stdout.columns, paint: createPaint(io.stdout, io.env) }));
}

/** Adds `gatehouse tools`. */
export function registerTools(program: Command, io: CommandIo = processIo()): void {
  const command = program
    .command('tools')
    .description('list the tools of an MCP server')
    .argument('<url>', 'URL of the MCP server')
    .option('--json', 'print them as JSON: { "tools": [...] }')
    .addHelpText('after', `\nExample:\n  ${programName} tools http://localhost:3000/mcp`);
  addConnectionOptions(command);
  command.action((url: string, options: ToolsOptions) => runTools(url, options, io));
}
