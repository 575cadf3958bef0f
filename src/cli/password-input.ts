import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Writable } from 'node:stream';
import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';
import { isTerminal } from './terminal.ts';

/** More than any password we take. */
const maxInputBytes = 4096;

async function readAll(stdin: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk as string | Uint8Array);
    chunks.push(bytes);
    length += bytes.length;
    if (length > maxInputBytes) break;
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

function ask(question: string, stdin: Readable): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: stdin, output: silent, terminal: true });
  process.stderr.write(question);
  return new Promise((resolve, reject) => {
    prompt.once('SIGINT', () => prompt.close());
    // Ctrl+C, Ctrl+D and a terminal that goes away; after an answer it changes nothing.
    prompt.once('close', () => {
      process.stderr.write('\n');
      reject(new CliError('Nothing was changed.', exitCodes.usage));
    });
    prompt.question('', (answer) => {
      resolve(answer);
      prompt.close();
    });
  });
}

/**
 * Reads a new password: from standard input where that was asked for, else twice at a prompt that shows nothing.
 * Never from the arguments, which other users of the machine can read (T-191).
 * @throws CliError where there is no terminal to ask at, nobody answers there, or the two differ
 */
export async function readNewPassword(fromStdin: boolean, stdin: Readable): Promise<string> {
  if (fromStdin) return readAll(stdin);
  if (!isTerminal(stdin))
    throw new CliError(
      'There is no terminal to type a password at.',
      exitCodes.usage,
      'Pipe it in with --password-stdin.',
    );
  const password = await ask('New password: ', stdin);
  if ((await ask('Once more: ', stdin)) !== password)
    throw new CliError('The two passwords differ.', exitCodes.usage);
  return password;
}
