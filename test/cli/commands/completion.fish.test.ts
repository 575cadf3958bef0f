import { describe, expect, it } from 'vitest';
import { completables, fishCompletion } from '../../../src/cli/commands/completion.ts';
import { sampleProgram } from '../support/sample-program.ts';

const lines = fishCompletion('sample', completables(sampleProgram())).split('\n');

describe('completion in fish', () => {
  it('offers commands at the place where they can stand', () => {
    expect(lines).toContain(
      `complete -c sample -f -n '__fish_seen_subcommand_from account; and not __fish_seen_subcommand_from add list help' -a 'add' -d 'add one'`,
    );
  });

  it('offers options with their values', () => {
    expect(lines).toContain(
      `complete -c sample -n '__fish_seen_subcommand_from reach' -l 'transport' -x -a 'http sse' -d 'which way'`,
    );
    expect(lines).toContain(
      `complete -c sample -n '__fish_seen_subcommand_from reach' -l 'file' -r -d 'a file'`,
    );
    expect(lines.join()).not.toContain('hidden');
  });
});
