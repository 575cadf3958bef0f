import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { formatCompletion, registerCompletion, shells } from '../../../src/cli/commands/completion.ts';
import { testIo } from '../support/client-commands.ts';

describe('gatehouse completion', () => {
  it.each(shells)('prints a script for %s that knows the commands and their options', async (shell) => {
    const { io, written } = testIo();
    const program = new Command('gatehouse').exitOverride();
    program.command('tools').option('--json', 'print JSON');
    registerCompletion(program, io);
    await program.parseAsync(['node', 'gatehouse', 'completion', shell]);
    expect(written.stdout).toBe(formatCompletion(program, shell));
    for (const word of ['tools', 'completion', 'json']) expect(written.stdout).toContain(word);
  });

  it('knows no other shell', async () => {
    const { io } = testIo();
    const program = new Command('gatehouse').exitOverride().configureOutput({ writeErr: () => undefined });
    registerCompletion(program, io);
    program.commands[0]?.exitOverride().configureOutput({ writeErr: () => undefined });
    await expect(program.parseAsync(['node', 'gatehouse', 'completion', 'cmd'])).rejects.toThrow('cmd');
  });
});
