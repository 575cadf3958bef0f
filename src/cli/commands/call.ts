import type { CallToolResult, Client, Progress } from '@modelcontextprotocol/client';
import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { type CommandIo, formatJson, printableLine, processIo } from '../output.ts';
import { programName } from '../program-name.ts';
import { type ProgressLine, startProgressLine } from '../progress-line.ts';
import { type GivenArguments, readArguments, typeArguments } from './call-arguments.ts';
import { answerElicitation, canAsk } from './call-elicitation.ts';
import { formatResult } from './call-result.ts';
import { addConnectionOptions, type ConnectionOptions } from './connection-options.ts';
import { requestOptions, type WithServerOptions, withServer } from './with-server.ts';

/** Options of `gatehouse call`, as commander gives them. */
export interface CallOptions extends ConnectionOptions {
  json?: boolean;
}

function describeProgress(tool: string, { progress, total, message }: Progress): string {
  const share = total === undefined ? String(progress) : `${progress}/${total}`;
  return `Calling ${tool} ${share}${message === undefined ? '' : ` ${message}`}`;
}

/** The tool's schema says which of `key=value` are numbers; it is asked for only where it matters. */
async function schemaOf(
  client: Client,
  tool: string,
  given: GivenArguments,
  options: CallOptions,
): Promise<unknown> {
  if (Object.keys(given.texts).length === 0 || !client.getServerCapabilities()?.tools) return undefined;
  const { tools } = await client.listTools(undefined, requestOptions(options));
  return tools.find(({ name }) => name === tool)?.inputSchema;
}

async function callTool(
  client: Client,
  tool: string,
  given: GivenArguments,
  options: CallOptions,
  waiting: ProgressLine,
): Promise<CallToolResult> {
  const args = typeArguments(given, await schemaOf(client, tool, given, options));
  return client.callTool(
    { name: tool, arguments: args },
    {
      ...requestOptions(options),
      onprogress: (progress) => waiting.say(describeProgress(tool, progress)),
    },
  );
}

/**
 * `gatehouse call`: calls one tool. Progress, and what the server asks in between, are shown on a terminal.
 * @param target URL of the MCP server, the tool, and its arguments, see `readArguments`
 * @param options `json`: print the whole result as JSON
 * @param io the surroundings
 * @throws CliError
 */
export async function runCall(
  target: { url: string; tool: string; args?: readonly string[] },
  options: CallOptions,
  io: CommandIo,
): Promise<void> {
  const { url, tool, args = [] } = target;
  const given = await readArguments(args, io);
  const waiting = startProgressLine(io, `Calling ${tool}`);
  const asked: Pick<WithServerOptions, 'capabilities' | 'prepare'> = canAsk(io)
    ? {
        capabilities: { elicitation: { form: {}, url: {} } },
        prepare: (client) => answerElicitation(client, io, waiting),
      }
    : {};
  const result = await withServer(url, io, (client) => callTool(client, tool, given, options, waiting), {
    ...options,
    ...asked,
  }).finally(() => waiting.end());
  io.stdout.write(options.json ? formatJson(result) : formatResult(result));
  if (result.isError)
    throw new CliError(`The tool ${printableLine(tool)} answered with an error.`, exitCodes.toolError);
}

/**
 * Adds `gatehouse call`.
 * @param program the command line
 * @param io the surroundings
 */
export function registerCall(program: Command, io: CommandIo = processIo()): void {
  const command = program
    .command('call')
    .description('call a tool of an MCP server')
    .argument('<url>', 'URL of the MCP server')
    .argument('<tool>', 'name of the tool')
    .argument('[arguments...]', 'key=value, key:=json, a JSON object, @file.json, or @- for standard input')
    .option('--json', 'print the whole result as JSON, or { "error": {...} }')
    .addHelpText(
      'after',
      `\nExamples:\n  ${programName} call http://localhost:3000/mcp add_note text="Buy milk"\n  ${programName} call http://localhost:3000/mcp add_note '{"text":"Buy milk"}'`,
    );
  addConnectionOptions(command);
  command.action((url: string, tool: string, args: string[], options: CallOptions) =>
    runCall({ url, tool, args }, options, io),
  );
}
