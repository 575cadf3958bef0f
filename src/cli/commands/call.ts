import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { type CommandIo, formatJson, printable, printableLine, processIo } from '../output.ts';
import { programName } from '../program-name.ts';
import { withServer } from './with-server.ts';

function parseArguments(text: string | undefined): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text ?? '{}');
  } catch {
    throw new CliError(
      'The arguments are not JSON.',
      exitCodes.usage,
      `Write an object, for example: '{"city":"Bern"}'`,
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new CliError('The arguments have to be a JSON object.', exitCodes.usage);
  return value as Record<string, unknown>;
}

/** A tool result, as far as it is shown. */
interface ShownResult {
  content: readonly ({ type: string } & Record<string, unknown>)[];
  structuredContent?: unknown;
}

/**
 * Writes a tool result for a person: its texts, and one line for anything else.
 * @param result what the tool answered
 * @returns text that is fit for a terminal (T-190)
 */
export function formatResult(result: ShownResult): string {
  const parts = result.content.map((block) => {
    if (block.type === 'text' && typeof block.text === 'string') return printable(block.text);
    const about = [block.type, block.mimeType, block.uri ?? block.name].filter(
      (one) => typeof one === 'string',
    );
    return `[${printableLine(about.join(' '))}]`;
  });
  if (parts.length === 0 && result.structuredContent !== undefined)
    return formatJson(result.structuredContent);
  return parts.length === 0 ? '' : `${parts.join('\n').replace(/\n+$/, '')}\n`;
}

/**
 * `gatehouse call`: calls one tool.
 * @param target URL of the MCP server, the tool, and its arguments as JSON
 * @param options `json`: print the whole result as JSON
 * @param io the surroundings
 * @throws CliError
 */
export async function runCall(
  target: { url: string; tool: string; json?: string | undefined },
  options: { json?: boolean },
  io: CommandIo,
): Promise<void> {
  const args = parseArguments(target.json);
  const result = await withServer(target.url, io, (client) =>
    client.callTool({ name: target.tool, arguments: args }),
  );
  io.stdout.write(options.json ? formatJson(result) : formatResult(result));
  if (result.isError)
    throw new CliError(`The tool ${printableLine(target.tool)} answered with an error.`, exitCodes.toolError);
}

/**
 * Adds `gatehouse call`.
 * @param program the command line
 * @param io the surroundings
 */
export function registerCall(program: Command, io: CommandIo = processIo()): void {
  program
    .command('call')
    .description('call a tool of an MCP server you are logged in to')
    .argument('<url>', 'URL of the MCP server')
    .argument('<tool>', 'name of the tool')
    .argument('[arguments]', 'arguments as a JSON object')
    .option('--json', 'print the whole result as JSON')
    .addHelpText(
      'after',
      `\nExample:\n  ${programName} call http://localhost:3000/mcp add_note '{"text":"Buy milk"}'`,
    )
    .action((url: string, tool: string, json: string | undefined, options: { json?: boolean }) =>
      runCall({ url, tool, json }, options, io),
    );
}
