import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  addConnectionOptions,
  splitCommandLine,
} from '../../../../src/cli/commands/mcp-client/connection-options.ts';

function parse(...args: string[]): Record<string, unknown> {
  const command = addConnectionOptions(
    new Command().exitOverride().configureOutput({ writeErr: () => undefined }),
  );
  return command.parse(args, { from: 'user' }).opts();
}

describe('the options of a connection', () => {
  it('are read', () => {
    expect(
      parse('--transport', 'sse', '--header', 'A: b', '--header', 'C: d', '--timeout', '2.5', '--trace'),
    ).toEqual({
      transport: 'sse',
      header: ['A: b', 'C: d'],
      timeout: 2.5,
      trace: true,
    });
    expect(parse()).toEqual({});
  });

  it('are refused where they make no sense', () => {
    for (const args of [
      ['--transport', 'carrier-pigeon'],
      ['--timeout', '0'],
      ['--timeout', 'soon'],
    ])
      expect(() => parse(...args)).toThrow();
  });
});

describe('a command line', () => {
  it('is split at blanks, but for those in quotes', () => {
    expect(splitCommandLine(` node "my server.js" --name='a b'  "" x"y"z `)).toEqual([
      'node',
      'my server.js',
      '--name=a b',
      '',
      'xyz',
    ]);
  });

  it('is not expanded', () => {
    expect(splitCommandLine('echo $HOME `id` *')).toEqual(['echo', '$HOME', '`id`', '*']);
  });
});
