import type { Command } from 'commander';
import { freshCredential } from '../../../client/index.ts';
import { openTokenFile } from '../../../client/node/index.ts';
import { shellWord } from '../../../client/quote.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type CommandIo, isTerminal, processIo, programName } from '../../output.ts';
import { explainFailure } from './client-failure.ts';
import { traceOption } from './connection-options.ts';
import { requireLogin } from './stored-login.ts';
import { withTrace } from './trace.ts';

/** Options of `gatehouse token`, as commander parses them. */
export interface TokenOptions {
  header?: boolean;
  show?: boolean;
  trace?: boolean;
}

/**
 * Runs `gatehouse token`: prints the access token of a login for another program, renewed if it expires soon. On a terminal
 * it would stay in the scrollback, so it is printed there only with `--show` (T-191).
 * @param url URL of the MCP server
 * @param options `header`: as a header line; `show`: on a terminal too
 * @throws CliError
 * @see RFC 6750 section 2.1
 */
export async function runToken(url: string, options: TokenOptions, io: CommandIo): Promise<void> {
  const word = shellWord(url);
  if (isTerminal(io.stdout) && !options.show)
    throw new CliError(
      'The token would be shown on this terminal, where others may read it later.',
      exitCodes.usage,
      `For another program: curl -H @<(${programName} token ${word} --header) ${word}\nTo see it: --show`,
    );
  try {
    const store = openTokenFile(io.env);
    const { server, credential: kept } = await requireLogin(store, url);
    const { fetch, now } = withTrace(io, options.trace);
    const { accessToken, dpopKey } = (await freshCredential({ fetch, now }, store, server)) ?? kept;
    if (dpopKey !== undefined)
      throw new CliError(
        'The token of this login is bound to a key. It works only with a proof for each request, which only this client can make.',
        exitCodes.usage,
        `For another program that speaks MCP: ${programName} connect ${word}`,
      );
    io.stdout.write(options.header ? `Authorization: Bearer ${accessToken}\n` : `${accessToken}\n`);
  } catch (error) {
    throw explainFailure(error, url);
  }
}

/** Adds `gatehouse token`. */
export function registerToken(program: Command, io: CommandIo = processIo()): void {
  program
    .command('token')
    .description('print the access token of a login, renewed, for another program')
    .argument('<url>', 'URL of the MCP server')
    .option('--header', 'print it as a header line: Authorization: Bearer ...')
    .option('--show', 'print it on a terminal too')
    .option(...traceOption)
    .addHelpText(
      'after',
      `\nExample (the token is in no argument, where other users of the machine could read it):\n  curl -H @<(${programName} token http://localhost:3000/mcp --header) http://localhost:3000/mcp`,
    )
    .action((url: string, options: TokenOptions) => runToken(url, options, io));
}
