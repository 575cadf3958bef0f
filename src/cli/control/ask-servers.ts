import { request } from 'node:http';
import { CliError, exitCodes } from '../cli-error.ts';
import { printableLine } from '../output.ts';
import { type ControlSocket, findControlSockets } from './socket-path.ts';

/** Longest wait for an answer of a server, in milliseconds. */
const patienceMs = 30_000;

/** Codes of sockets at which nobody listens any more. */
const nobodyThere = new Set(['ENOENT', 'ECONNREFUSED']);

/** Codes of folders in which no socket can be looked for. */
const nowhere = new Set(['ENOENT', 'EACCES', 'ENOTDIR']);

/** What the running servers of a data folder said, by the ids of their processes. */
export interface Answers {
  /** At least one. */
  answered: { pid: number; body: unknown }[];
  /** Servers that are there and could not do it. */
  failed: { pid: number; failure: CliError }[];
}

/**
 * Asks every running server of a data folder.
 * @param way method and path of a control
 * @throws CliError where none answers: no server listens there, or all fail
 */
export async function askServers(
  dataFolder: string,
  way: { method: string; path: string },
): Promise<Answers> {
  const answers: Answers = { answered: [], failed: [] };
  const ask = async (socket: ControlSocket): Promise<void> => {
    const { pid } = socket;
    try {
      answers.answered.push({ pid, body: await askOne(socket, way) });
    } catch (failure) {
      if (failure instanceof CliError) answers.failed.push({ pid, failure });
      else if (!nobodyThere.has(codeOf(failure))) throw failure;
    }
  };
  await Promise.all(sockets(dataFolder).map(ask));
  const [first] = answers.failed;
  if (answers.answered.length === 0) throw first?.failure ?? notServed(dataFolder);
  for (const list of [answers.answered, answers.failed]) list.sort((a, b) => a.pid - b.pid);
  return answers;
}

/** Gives the failure of servers that could not do what others did; undefined where all did it. */
export function failureOfSome({ answered, failed }: Answers): CliError | undefined {
  const [first] = failed;
  if (!first) return undefined;
  const which = failed.map(({ pid, failure }) => `- process ${pid}: ${failure.message}`);
  return new CliError(
    `${failed.length} of ${answered.length + failed.length} servers of this data folder could not do it.\n${which.join('\n')}`,
    first.failure.exitCode,
    'Look at their logs.',
  );
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

function sockets(dataFolder: string): ControlSocket[] {
  try {
    return findControlSockets(dataFolder);
  } catch (error) {
    throw nowhere.has(codeOf(error)) ? notServed(dataFolder) : noAnswer(error as Error);
  }
}

function noAnswer(error: Error): CliError {
  const { message } = error;
  if (codeOf(error) === 'EACCES')
    return new CliError(
      'This user may not ask the server.',
      exitCodes.unreachable,
      'Run the command as the user it runs as.',
    );
  return new CliError(`The server did not answer: ${message}.`, exitCodes.unreachable, 'Look at its log.');
}

/** @throws CliError where the server fails; an error of {@link nobodyThere} where there is none */
async function askOne(socket: ControlSocket, way: { method: string; path: string }): Promise<unknown> {
  const answer = await exchange(socket.path, way).catch((error: Error) => {
    throw nobodyThere.has(codeOf(error)) ? error : noAnswer(error);
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
  socketPath: string,
  { method, path }: { method: string; path: string },
): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
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
