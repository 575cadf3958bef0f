// Also the operator's side of it: src/authorization-server/administration/keys.ts.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isoTime } from '../../../../src/cli/commands/operator/installation.ts';
import { registerKeys } from '../../../../src/cli/commands/operator/keys.ts';
import type { KeySchedule } from '../../../../src/crypto/key-schedule.ts';
import { newInstallation, withInstallation } from '../../support/installation.ts';
import { runCommand } from '../../support/operator.ts';

describe('gatehouse keys', () => {
  it('list shows kind, state, id and times, and never a key (T-191)', async () => {
    const data = await newInstallation();
    const table = (await runCommand(registerKeys, ['keys', 'list', '--data', data])).stdout;
    expect(
      table
        .split('\n')
        .slice(1, 4)
        .map((line) => line.split(/ +/).slice(0, 2).join(' ')),
    ).toEqual(['signing current', 'cookies current', 'sealing current']);
    const json = (await runCommand(registerKeys, ['keys', 'list', '--json', '--data', data])).stdout;
    expect(JSON.parse(json)).toHaveLength(3);
    const { sealing, cookies, signing, audit } = JSON.parse(
      readFileSync(join(data, 'gatehouse.keys.json'), 'utf8'),
    ) as KeySchedule;
    const secrets = [audit, ...[...sealing, ...cookies].map(({ key }) => key), signing[0]?.key.d];
    for (const secret of secrets) expect(table + json).not.toContain(secret);
  });

  it('rotate makes the next key of one kind, once, and is noted with the operator (T-192, T-197)', async () => {
    const data = await newInstallation();
    const rotate = async () =>
      JSON.parse(
        (await runCommand(registerKeys, ['keys', 'rotate', 'signing', '--json', '--data', data])).stdout,
      );
    const [first] = await rotate();
    expect(first).toMatchObject({ kind: 'signing', state: 'next', isNew: true });
    expect(await rotate()).toEqual([{ ...first, isNew: false }]);
    await withInstallation(data, async ({ administration }) => {
      expect(await administration.audit.list({ event: 'key.', limit: 10 })).toMatchObject([
        { event: 'key.rotated', details: { kind: 'signing', keyId: first.id, operator: expect.any(String) } },
      ]);
    });
  });

  it('rotate refuses to pass over a key that is dated ahead of the clock, unless the operator says that the clock is right', async () => {
    const data = await newInstallation();
    const rotate = async (...args: string[]) =>
      runCommand(registerKeys, ['keys', 'rotate', ...args, '--data', data]);
    await rotate('signing');
    const file = join(data, 'gatehouse.keys.json');
    const schedule = JSON.parse(readFileSync(file, 'utf8')) as KeySchedule;
    const [ahead, current] = schedule.signing as [KeySchedule['signing'][number], unknown];
    ahead.activeAt += 3 * 365 * 86_400;
    writeFileSync(file, JSON.stringify({ ...schedule, version: 2 }));
    const before = readFileSync(file, 'utf8');
    for (const args of [['signing'], []])
      expect(String((await rotate(...args)).error)).toMatch(
        /The clock of this machine says 20.* a key of kind signing was made at .* or is behind now\. .*--clock-is-right.* Nothing was changed\.$/,
      );
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect((await rotate('cookies')).error).toBeUndefined();
    const [made, passedOver] = (await rotate('signing', '--clock-is-right')).stdout.split('\n');
    expect(made).toMatch(/^signing: \S+ is in use from \S+; the old key stays/);
    expect(passedOver).toBe(
      `signing: ${ahead.id} was dated ${isoTime(ahead.activeAt)}, ahead of the clock. It is ignored, and stays as long as the old key.`,
    );
    const { signing } = JSON.parse(readFileSync(file, 'utf8')) as KeySchedule;
    expect(signing).toHaveLength(3);
    expect(signing[2]).toEqual(current);
  });

  it('list tells when a retiring key was replaced', async () => {
    const data = await newInstallation();
    const file = join(data, 'gatehouse.keys.json');
    const schedule = JSON.parse(readFileSync(file, 'utf8')) as KeySchedule;
    const [current] = schedule.cookies as [KeySchedule['cookies'][number]];
    schedule.cookies.push({ ...current, id: 'earlier', activeAt: current.activeAt - 86_400 });
    writeFileSync(file, JSON.stringify(schedule));
    const { stdout } = await runCommand(registerKeys, ['keys', 'list', '--data', data]);
    const [heading = '', ...rows] = stdout.split('\n');
    const row = rows.find((line) => line.includes(' earlier ')) ?? '';
    expect(row).toMatch(/^cookies +retiring /);
    expect(row.slice(heading.indexOf('REPLACED'))).toMatch(new RegExp(`^${isoTime(current.activeAt)} `));
  });

  it('rotate without a kind makes all', async () => {
    const data = await newInstallation();
    const { stdout } = await runCommand(registerKeys, ['keys', 'rotate', '--data', data]);
    expect(stdout.match(/^(signing|cookies|sealing): /gm)).toHaveLength(3);
    const again = await runCommand(registerKeys, ['keys', 'rotate', '--data', data]);
    expect(again.stdout).toMatch(/sealing: .* was created before/);
  });

  it('rotate of a kind that is none is refused', async () => {
    const { error } = await runCommand(registerKeys, ['keys', 'rotate', 'door', '--data', 'none']);
    expect(String(error)).toMatch(/Allowed choices are signing, cookies, sealing, all/);
  });
});

describe('gatehouse keys rewrap', () => {
  const rewrap = (...args: string[]) => runCommand(registerKeys, ['keys', 'rewrap', ...args]);

  it('takes the new master key from one place, and never as an argument (T-191)', async () => {
    const data = await newInstallation();
    for (const places of [[], ['--new-file', 'a', '--new-env', 'B']])
      expect((await rewrap('--data', data, ...places)).error).toMatchObject({
        message: 'Name one place of the new master key.',
      });
    expect((await rewrap('--data', data, '--new-command', 'print-key')).error).toMatchObject({
      message: expect.stringContaining('A command is a list of texts in JSON'),
    });
  });

  it('is not for SQLite, whose keys are in a file', async () => {
    const { error } = await rewrap('--data', await newInstallation(), '--new-env', 'NEW_KEY');
    expect(error).toMatchObject({ message: expect.stringContaining('under no master key') });
  });
});
