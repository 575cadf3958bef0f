import type { Client } from '@modelcontextprotocol/client';
import type { Command } from 'commander';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type CommandIo, createPaint, formatJson, type Paint, processIo, programName } from '../../output.ts';
import { startProgressLine } from '../../progress-line.ts';
import { formatFittedTable } from '../../table.ts';
import { readArguments, typeArguments } from './call-arguments.ts';
import { formatBlock, type ShownBlock } from './call-result.ts';
import { addConnectionOptions, type ConnectionOptions } from './connection-options.ts';
import { shortened } from './tools.ts';
import { requestOptions, withServer } from './with-server.ts';

/** Options of `gatehouse prompts`, as commander parses them. */
export interface PromptsOptions extends ConnectionOptions {
  json?: boolean;
}

type Prompts = Pick<Awaited<ReturnType<Client['listPrompts']>>, 'prompts'>;

/** Arguments of a prompt are texts (MCP server features "Prompts"). */
function requireTexts(args: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      if (typeof value === 'string') return [name, value];
      throw new CliError(`Arguments of prompts are texts; ${JSON.stringify(name)} is none.`, exitCodes.usage);
    }),
  );
}

function showList({ prompts }: Prompts, options: PromptsOptions, io: CommandIo): void {
  if (options.json) {
    io.stdout.write(formatJson({ prompts }));
    return;
  }
  const rows = prompts.map(({ name, description = '', arguments: args = [] }) => [
    name,
    shortened(description),
    args.map((one) => `${one.name}${one.required ? '' : '?'}`).join(', '),
  ]);
  if (rows.length === 0) io.stderr.write('The server has no prompts.\n');
  else
    io.stdout.write(
      formatFittedTable(['NAME', 'DESCRIPTION', 'ARGUMENTS'], rows, {
        width: io.stdout.columns,
        paint: createPaint(io.stdout, io.env),
      }),
    );
}

/**
 * Writes the messages of a prompt for a person, each under the name of its role.
 * @returns text that is safe for a terminal (T-190)
 */
export function formatMessages(
  messages: readonly { role: string; content: unknown }[],
  paint: Paint,
): string {
  return messages
    .map(({ role, content }) => {
      const blocks = (Array.isArray(content) ? content : [content]) as ShownBlock[];
      const name = role === 'assistant' ? 'assistant' : 'user';
      return `${paint('bold', `${name}:`)}\n${blocks.map(formatBlock).join('\n').replace(/\n+$/, '')}\n`;
    })
    .join('\n');
}

/**
 * Runs `gatehouse prompts`: lists the prompts of an MCP server, or gets one.
 * @param target URL of the MCP server; `name` of the prompt to get, and its arguments, see `readArguments`
 * @param options `json`: print `{ "prompts": […] }`, or `{ "messages": […] }`
 * @throws CliError
 */
export async function runPrompts(
  target: { url: string; name?: string | undefined; args?: readonly string[] },
  options: PromptsOptions,
  io: CommandIo,
): Promise<void> {
  const { url, name, args = [] } = target;
  const given = requireTexts(typeArguments(await readArguments(args, io), undefined));
  const waiting = startProgressLine(
    io,
    name === undefined ? `Asking ${url} for its prompts` : `Getting ${name}`,
  );
  const work = async (client: Client): Promise<() => void> => {
    if (name === undefined) {
      const listed = client.getServerCapabilities()?.prompts
        ? await client.listPrompts(undefined, requestOptions(options))
        : { prompts: [] };
      return () => showList(listed, options, io);
    }
    const prompt = await client.getPrompt({ name, arguments: given }, requestOptions(options));
    const paint = createPaint(io.stdout, io.env);
    return () => io.stdout.write(options.json ? formatJson(prompt) : formatMessages(prompt.messages, paint));
  };
  const finish = await withServer(url, io, work, options).finally(() => waiting.end());
  finish();
}

/** Adds `gatehouse prompts`. */
export function registerPrompts(program: Command, io: CommandIo = processIo()): void {
  const command = program
    .command('prompts')
    .description('list the prompts of an MCP server, or get one')
    .argument('<url>', 'URL of the MCP server')
    .argument('[name]', 'name of the prompt to get')
    .argument('[arguments...]', 'key=value, a JSON object, @file.json, or @- for standard input')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `\nExamples:\n  ${programName} prompts http://localhost:3000/mcp\n  ${programName} prompts http://localhost:3000/mcp summarize topic=notes`,
    );
  addConnectionOptions(command);
  command.action((url: string, name: string | undefined, args: string[], options: PromptsOptions) =>
    runPrompts({ url, name, args }, options, io),
  );
}
