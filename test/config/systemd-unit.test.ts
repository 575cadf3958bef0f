import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../src/config/load.ts';
import { testFolder } from '../client/support/folder.ts';
import { repository } from '../support/program.ts';

const run = promisify(execFile);
const unit = readFileSync(join(repository, 'config/gatehouse.service'), 'utf8');
const settings = unit.split('\n').filter((line) => /^[A-Z]\w*=/.test(line));
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

/** The unit, where the command it starts exists. */
function install(): string {
  const file = join(testFolder(), 'gatehouse.service');
  writeFileSync(file, unit.replace('/usr/local/bin/gatehouse', process.execPath));
  return file;
}

describe('the unit for systemd', () => {
  it.skipIf(!hasSystemd)('is one: systemd knows every line', async () => {
    const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', install()]);
    expect(`${stdout}${stderr}`).not.toContain('gatehouse.service');
  });

  it.skipIf(!hasSystemd)('leaves little open, by the measure of systemd-analyze security', async () => {
    // It ends with 1 above the threshold, which is ten times the exposure.
    const args = ['security', '--offline=true', '--threshold=20', '--no-pager', install()];
    await expect(run('systemd-analyze', args)).resolves.toBeDefined();
  });

  it('keeps its data where the example behind a proxy has it, as a user without rights', () => {
    const { data } = loadSettings(join(repository, 'config/examples/behind-proxy.json'), {});
    expect(data).toBe('/var/lib/gatehouse');
    expect(settings).toEqual(
      expect.arrayContaining(['StateDirectory=gatehouse', 'User=gatehouse', 'CapabilityBoundingSet=']),
    );
  });

  it('reloads by SIGHUP, and waits longer for the end than Gatehouse takes', () => {
    expect(settings).toEqual(
      expect.arrayContaining(['ExecReload=/bin/kill -HUP $MAINPID', 'TimeoutStopSec=15', 'KillMode=mixed']),
    );
  });

  it('forbids nothing that the engine of JavaScript needs', () => {
    expect(settings.filter((line) => line.startsWith('MemoryDenyWriteExecute'))).toEqual([]);
  });
});
