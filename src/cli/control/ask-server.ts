import { request } from 'node:http';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { printableLine } from '../output.ts';
import { checkOwnFolder, controlSocketPath } from './socket-path.ts';

/** Longest wait for an answer of the server, in milliseconds. */
const patienceMs = 30_000;

/** Codes of sockets at which nobody listens. */
const nobodyThere = new Set(['ENOENT', 'ECONNREFUSED', 'EACCES', 'ENOTDIR']);

/**
 * Asks the running server of a data folder.
 * @param way method and path of a control
 * @returns what it answered
 * @throws CliError where no server listens there, or it fails
 */
export async function askServer(dataFolder: string, way: { method: string; path: string }): Promise<unknown> {
  const answer = await exchange(dataFolder, way).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== undefined && nobodyThere.has(error.code)) throw notServed(dataFolder);
    throw new CliError(
      `The server did not answer: ${error.message}.`,
      exitCodes.unreachable,
      'Look at its log.',
    );
  });
  if (answer.status === 200) return answer.body;
  const { message = 'it does not know the command' } = answer.body as { message?: string };
  throw new CliError(
    `The server could not do it: ${printableLine(message)}.`,
    exitCodes.unexpected,
    'Look at its log.',
  );
}

function exchange(
  dataFolder: string,
  { method, path }: { method: string; path: string },
): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const { path: socketPath, folder } = controlSocketPath(dataFolder);
    if (folder !== undefined) checkOwnFolder(folder);
    const asked = request({ socketPath, method, path, timeout: patienceMs }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('error', reject).on('end', () => {
        try {
          resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) });
        } catch {
          reject(new Error('what it said is not JSON'));
        }
      });
    });
    asked.on('timeout', () => asked.destroy(new Error('it took too long')));
    asked.on('error', reject).end();
  });
}

function notServed(dataFolder: string): CliError {
  return new CliError(
    `No running server listens at the data folder ${printableLine(dataFolder)}.`,
    exitCodes.unreachable,
    'Name its data folder with --data or its config file with --config, and run the command as its user.',
  );
}
