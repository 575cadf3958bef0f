import { readFile } from 'node:fs/promises';
import { type GivenClient, readPrivateKey } from '../../client/index.ts';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { CommandIo } from '../output.ts';
import type { LoginCommandOptions } from './login-options.ts';

/** Longest secret, key or assertion read, in characters. */
const maxSecretLength = 16 * 1024;

function usage(message: string, hint?: string): CliError {
  return new CliError(message, exitCodes.usage, hint);
}

/**
 * Reads a secret from standard input, to its end. It is in no message.
 * @param what what it is, for messages
 * @throws CliError exit code 2
 */
export async function readStdinSecret({ stdin }: CommandIo, what: string): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > maxSecretLength) throw usage(`Standard input is too long for ${what}.`);
  }
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '') throw usage(`Standard input does not hold ${what}.`);
  return secret;
}

/**
 * Reads a file with a secret in it. Its content is in no message.
 * @param file its path
 * @param what what it holds, for messages
 * @throws CliError exit code 2
 */
export async function readSecretFile(file: string, what: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usage(`The file with ${what} cannot be read: ${error.code ?? 'it is no file'}.`);
  });
  const content = text.replace(/\r?\n$/, '');
  if (content === '' || content.length > maxSecretLength)
    throw usage(`The file with ${what} is ${content === '' ? 'empty' : 'too long'}.`);
  return content;
}

/**
 * Reads the client that was registered beforehand: its secret from standard input or a file, its key from a file.
 * @param options what was given on the command line
 * @param io the surroundings
 * @returns the client; undefined where none is named
 * @throws CliError exit code 2; ClientError `bad_key`
 * @see RFC 6749 section 2.3; RFC 7523 section 2.2 (A5-11, T-191)
 */
export async function readGivenClient(
  { clientId, clientSecretStdin, clientSecretFile, privateKey }: LoginCommandOptions,
  io: CommandIo,
): Promise<GivenClient | undefined> {
  const proofs = [
    ['--client-secret-stdin', clientSecretStdin],
    ['--client-secret-file', clientSecretFile],
    ['--private-key', privateKey],
  ].filter(([, value]) => value !== undefined);
  const [[proof] = []] = proofs;
  if (proofs.length > 1)
    throw usage(`One of ${proofs.map(([name]) => name).join(' and ')} is enough: leave the others out.`);
  if (clientId === undefined) {
    if (proof !== undefined) throw usage(`${proof} needs --client-id.`);
    return undefined;
  }
  if (clientSecretStdin) return { clientId, clientSecret: await readStdinSecret(io, 'the client secret') };
  if (clientSecretFile !== undefined)
    return { clientId, clientSecret: await readSecretFile(clientSecretFile, 'the client secret') };
  if (privateKey !== undefined)
    return {
      clientId,
      privateKey: await readPrivateKey(await readSecretFile(privateKey, 'the private key')),
    };
  return { clientId };
}
