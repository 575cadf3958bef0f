import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { CommandIo } from '../output.ts';
import { readSecretFile, readStdinSecret } from './login-client.ts';
import type { LoginCommandOptions } from './login-options.ts';

/**
 * Reads the initial access token of `--initial-access-token-file`, from a file or, for `-`, standard input. It is in no
 * message.
 * @param options what was given on the command line
 * @param io the surroundings
 * @returns undefined where none was given
 * @throws CliError exit code 2, also where nothing would be registered with it
 * @see RFC 7591 section 3 (A5-02, T-191)
 */
export async function readInvitation(
  { initialAccessTokenFile: file, clientId, grant, paste }: LoginCommandOptions,
  io: CommandIo,
): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const usage = (message: string): CliError => new CliError(message, exitCodes.usage);
  if (clientId !== undefined || grant !== undefined)
    throw usage('--initial-access-token-file is for registering: leave --client-id and --grant out.');
  if (file === '-' && paste)
    throw usage('Standard input cannot hold both the initial access token and the pasted address.');
  const what = 'the initial access token';
  const token = file === '-' ? await readStdinSecret(io, what) : await readSecretFile(file, what);
  if (!/^[\w.~+/-]+=*$/.test(token)) throw usage('The initial access token is not well-formed.');
  return token;
}
