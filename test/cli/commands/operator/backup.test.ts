import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { registerBackup } from '../../../../src/cli/commands/operator/backup.ts';
import { programName } from '../../../../src/cli/output.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { newInstallation } from '../../support/installation.ts';
import { runCommand } from '../../support/operator.ts';

describe('gatehouse backup', () => {
  it('says what it wrote, how to keep it, and how to put it back', async () => {
    const data = await newInstallation();
    const target = join(testFolder(), 'of a monday');
    const { stdout } = await runCommand(registerBackup, ['backup', target, '--data', data]);
    expect(stdout).toMatch(
      /^Wrote .*of a monday\/gatehouse\.db, \d+ bytes, checked\.\n.*Keep it encrypted\.\n/,
    );
    expect(stdout).toContain(`To restore it: ${programName} restore '${target}' --data ${data}\n`);
    expect(existsSync(join(target, 'gatehouse.keys.json'))).toBe(true);
  });

  it('leaves the keys out with --no-keys, and says it as JSON', async () => {
    const data = await newInstallation();
    const target = join(testFolder(), 'monday');
    const args = ['backup', target, '--data', data, '--no-keys', '--json'];
    const { stdout } = await runCommand(registerBackup, args);
    expect(JSON.parse(stdout)).toEqual({ folder: target, bytes: expect.any(Number), withKeys: false });
    expect(existsSync(join(target, 'gatehouse.keys.json'))).toBe(false);
  });

  it('makes no installation where there is none', async () => {
    const data = join(testFolder(), 'nothing');
    const { error } = await runCommand(registerBackup, ['backup', join(testFolder(), 'b'), '--data', data]);
    expect(String(error)).toMatch(/no Gatehouse database/);
    expect(existsSync(data)).toBe(false);
  });
});
