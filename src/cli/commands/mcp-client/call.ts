import { type CallToolResult, type Client, type Progress, ProtocolError } from '@modelcontextprotocol/client';
import type { Command } from 'commander';
import { plainMarked } from '../../../client/transports/exact-numbers.ts';
import { nearest } from '../../../settings/known-names.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type CommandIo, formatJson, printableLine, processIo, programName } from '../../output.ts';
import { type ProgressLine, startProgressLine } from '../../progress-line.ts';
import { type GivenArguments, readArguments, typeArguments } from './call-arguments.ts';
import { answerElicitation, canAsk } from './call-elicitation.ts';
import { formatResult } from './call-result.ts';
import { explainFailure } from './client-failure.ts';
import { addConnectionOptions, type ConnectionOptions, maxTimeOption } from './connection-options.ts';
import { requestOptions, type WithServerOptions, withServer } from './with-server.ts';

/** Options of `gatehouse call`, as commander parses them. */
export interface CallOptions extends ConnectionOptions {
  json?: boolean;
  /** Seconds. */
  maxTime?: number;
}

function describeProgress(tool: string, { progress, total, message }: Progress): string {
  const share = total === undefined ? String(progress) : `${progress}/${total}`;
  return `Calling ${tool} ${share}${message === undefined ? '' : ` ${message}`}`;
}

/** Maximum number of tool names in a hint. */
const maxNamed = 20;

/**
 * Checks if a server has a tool of this name, after it rejected a call.
 * @returns a suggestion; undefined if it has the tool, or lists no tools
 */
async function hintAtTool(client: Client, tool: string, options: CallOptions): Promise<string | undefined> {
  if (!client.getServerCapabilities()?.tools) return undefined;
  const listed = await client.listTools(undefined, requestOptions(options)).catch(() => undefined);
  const names = listed?.tools.map(({ name }) => name) ?? [];
  if (names.length === 0 || names.includes(tool)) return undefined;
  const near = nearest(tool, names);
  if (near !== undefined)
    return `There is no tool ${printableLine(tool)}. Did you mean ${printableLine(near)}?`;
  const more = names.length > maxNamed ? ' …' : '';
  return `There is no tool ${printableLine(tool)}. There are: ${names.slice(0, maxNamed).map(printableLine).join(', ')}${more}`;
}

/** Ends a call after a maximum time, whatever its progress. */
function limitTime(seconds: number | undefined): { signal?: AbortSignal; stop: () => void } {
  if (seconds === undefined) return { stop: () => undefined };
  const controller = new AbortController();
  const timer = setTimeout(
    () =>
      controller.abort(
        new CliError(
          `The call did not end within ${seconds} s.`,
          exitCodes.unreachable,
          'To wait longer: --max-time <seconds>',
        ),
      ),
    seconds * 1000,
  );
  return { signal: controller.signal, stop: () => clearTimeout(timer) };
}

/** Fetches the tool's input schema, which says which `key=value` arguments are numbers. Only if there are such arguments. */
async function schemaOf(
  client: Client,
  tool: string,
  given: GivenArguments,
  { signal, ...options }: CallOptions & { signal?: AbortSignal | undefined },
): Promise<unknown> {
  if (Object.keys(given.texts).length === 0 || !client.getServerCapabilities()?.tools) return undefined;
  const { tools } = await client.listTools(undefined, { ...requestOptions(options), signal });
  const schema = tools.find(({ name }) => name === tool)?.inputSchema;
  return schema && plainMarked(schema);
}

async function callTool(
  client: Client,
  tool: string,
  given: GivenArguments,
  options: CallOptions,
  waiting: ProgressLine,
): Promise<{ result: CallToolResult; hint: string | undefined }> {
  const { signal, stop } = limitTime(options.maxTime);
  try {
    const args = typeArguments(given, await schemaOf(client, tool, given, { ...options, signal }));
    const result = await client.callTool(
      { name: tool, arguments: args },
      {
        ...requestOptions(options),
        signal,
        onprogress: (progress) => waiting.say(describeProgress(tool, progress)),
      },
    );
    return { result, hint: result.isError ? await hintAtTool(client, tool, options) : undefined };
  } catch (error) {
    signal?.throwIfAborted();
    const hint = error instanceof ProtocolError ? await hintAtTool(client, tool, options) : undefined;
    const failure = explainFailure(error, tool);
    if (hint === undefined || !(failure instanceof CliError)) throw error;
    const hinted = new CliError(failure.message, failure.exitCode, hint);
    hinted.cause = error;
    throw hinted;
  } finally {
    stop();
  }
}

/**
 * Runs `gatehouse call`: calls one tool. Shows progress and elicitation requests on a terminal.
 * @param target URL of the MCP server, the tool, and its arguments, see `readArguments`
 * @param options `json`: print the whole result as JSON
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
  const { result, hint } = await withServer(
    url,
    io,
    (client) => callTool(client, tool, given, options, waiting),
    {
      ...options,
      ...asked,
    },
  ).finally(() => waiting.end());
  io.stdout.write(options.json ? formatJson(result) : formatResult(result));
  if (result.isError)
    throw new CliError(`The tool ${printableLine(tool)} returned an error.`, exitCodes.toolError, hint);
}

/** Adds `gatehouse call`. */
export function registerCall(program: Command, io: CommandIo = processIo()): void {
  const command = program
    .command('call')
    .description('call a tool of an MCP server')
    .argument('<url>', 'URL of the MCP server')
    .argument('<tool>', 'name of the tool')
    .argument('[arguments...]', 'key=value, key:=json, a JSON object, @file.json, or @- for standard input')
    .option('--json', 'print the whole result as JSON, or { "error": {...} }')
    .option(...maxTimeOption)
    .addHelpText(
      'after',
      `\nExamples:\n  ${programName} call http://localhost:3000/mcp add_note text="Buy milk"\n  ${programName} call http://localhost:3000/mcp add_note '{"text":"Buy milk"}'`,
    );
  addConnectionOptions(command);
  command.action((url: string, tool: string, args: string[], options: CallOptions) =>
    runCall({ url, tool, args }, options, io),
  );
}
