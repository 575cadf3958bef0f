import { Writable } from 'node:stream';
import type { PasteTerminal } from '../../client/node/index.ts';
import type { CommandIo } from '../output.ts';
import { isTerminal } from '../terminal.ts';

/**
 * Where the user of a command can paste.
 * @param io the surroundings
 * @param say writes one line to standard error
 */
export function pasteTerminal({ stdin, stderr }: CommandIo, say: (line: string) => void): PasteTerminal {
  const shows = stderr instanceof Writable && isTerminal(stderr);
  return { input: stdin, output: shows ? stderr : undefined, isTerminal: isTerminal(stdin), say };
}
