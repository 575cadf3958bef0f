import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addDoctorOptions, type DoctorCommandOptions } from '../../../../src/cli/commands/doctor/options.ts';

function parsed(...args: readonly string[]): DoctorCommandOptions {
  const command = addDoctorOptions(new Command('doctor').exitOverride().argument('[url]'));
  command.configureOutput({ writeErr: () => undefined });
  return command.parse(['node', 'doctor', ...args]).opts();
}

describe('the options of the doctor', () => {
  it('take ids in any case, with commas or one by one', () => {
    expect(parsed('--only', 'prm-resource,AS-PKCE', '--only', 'REACH-TLS').only).toEqual([
      'PRM-RESOURCE',
      'AS-PKCE',
      'REACH-TLS',
    ]);
    expect(parsed('--skip', 'AS-ISS').skip).toEqual(['AS-ISS']);
  });

  it('count failures only unless told', () => {
    expect(parsed().failOn).toBe('fail');
    expect(parsed('--fail-on', 'unknown').failOn).toBe('unknown');
  });

  it.each([
    [['--only', 'what is this'], 'Ids look like PRM-RESOURCE'],
    [['--timeout', 'soon'], 'A whole number from 1 to 600'],
    [['--fail-on', 'pass'], 'Allowed choices are fail, warn, unknown'],
    [['--json', '--junit'], 'cannot be used with'],
  ])('refuse %j', (args, sentence) => {
    expect(() => parsed(...args)).toThrow(sentence);
  });
});
