import { Command } from 'commander';
import type { CommandIo } from '../../../src/cli/output.ts';
import { testIo } from './client-commands.ts';

/**
 * Runs one operator's command in this process.
 * @param register what adds the command
 * @param args its name and arguments
 * @returns what it wrote, and what it failed with
 */
export async function runCommand(
  register: (program: Command, io: CommandIo) => void,
  args: readonly string[],
): Promise<{ stdout: string; stderr: string; error: unknown }> {
  const { io, written } = testIo();
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  register(program, io);
  const error = await program.parseAsync(['node', 'gatehouse', ...args]).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { ...written, error };
}
