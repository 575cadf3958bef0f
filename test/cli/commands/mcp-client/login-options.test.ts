import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addLoginOptions } from '../../../../src/cli/commands/mcp-client/login-options.ts';

function parse(...args: string[]): Record<string, unknown> {
  const command = addLoginOptions(new Command()).exitOverride();
  command.configureOutput({ writeErr: () => undefined });
  return command.parse(args, { from: 'user' }).opts();
}

describe('the options of a login', () => {
  it('are read', () => {
    const args = ['--callback-port', '3118', '--timeout', '20', '--store', 'plain', '--no-browser'];
    expect(parse(...args)).toMatchObject({ callbackPort: 3118, timeout: 20, store: 'plain', browser: false });
    expect(parse('--allow-origin', 'https://a', '--allow-origin', 'https://b').allowOrigin).toEqual([
      'https://a',
      'https://b',
    ]);
  });

  it.each([
    ['--callback-port', '0'],
    ['--callback-port', '65536'],
    ['--callback-port', '1e3'],
    ['--timeout', 'soon'],
    ['--timeout', '3601'],
    ['--store', 'pocket'],
    ['--grant', 'password'],
    ['--scope', 'a"b'],
    ['--allow-origin', 'https://a/path'],
  ])('%s %s is wrong usage', (name, value) => {
    expect(() => parse(name, value)).toThrow();
  });
});
