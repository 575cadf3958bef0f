import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { isoTime, operatorCommand } from '../../../../src/cli/commands/operator/installation.ts';

describe('a command of an operator', () => {
  it('takes the folder, the config file and --json', () => {
    const options = operatorCommand(new Command(), 'list', 'list').options.map(({ long }) => long);
    expect(options).toEqual(['--data', '--config', '--json']);
  });

  it('shows times as text, and a dash where there is none', () => {
    expect([isoTime(0), isoTime(undefined)]).toEqual(['1970-01-01T00:00:00.000Z', '-']);
  });
});
