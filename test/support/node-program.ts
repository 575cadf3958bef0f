import { join, resolve } from 'node:path';
import { compiledProgram } from './compiled-programs.ts';
import { repository } from './program.ts';

/** How a program is started by somebody else: by a gateway or a host. */
export interface NodeProgram {
  command: string;
  args: string[];
}

/**
 * Gives how a JavaScript or TypeScript file is started by those who hand little of their environment on. It finds what it
 * loads compiled already, which halves its start.
 * @param file from the repository's root, or absolute
 */
export function nodeProgram(file: string, ...args: readonly string[]): NodeProgram {
  const compiled = join(repository, 'test/support/backend/compiled.cjs');
  return {
    command: process.execPath,
    args: ['--require', compiled, compiledProgram(resolve(repository, file)), ...args],
  };
}
