import { describe, expect, it } from 'vitest';
import { formatKeyFile, generateSchedule, parseKeyFile } from '../../src/crypto/key-file-format.ts';
import { keysAt } from '../../src/crypto/key-schedule.ts';
import { generateKeySet } from '../../src/crypto/keys.ts';

async function firstVersion() {
  const [newer, older] = [await generateKeySet(), await generateKeySet()];
  return {
    version: 1,
    sealing: [...newer.sealing, ...older.sealing],
    cookies: [...newer.cookies, ...older.cookies],
    signing: [...newer.signing, ...older.signing],
  };
}

describe('the text of a key file', () => {
  it('is read as it was written', async () => {
    const schedule = await generateSchedule(1000);
    expect(parseKeyFile(formatKeyFile(schedule), 5000)).toEqual(schedule);
  });

  it('of the first version gives the same keys in the same order, as old as the file', async () => {
    const first = await firstVersion();
    const schedule = parseKeyFile(JSON.stringify(first), 5000);
    const { audit, ...keys } = keysAt(schedule, 5000);
    expect({ version: 1, ...keys }).toEqual(first);
    expect(schedule.signing.map(({ createdAt, activeAt }) => [createdAt, activeAt])).toEqual([
      [5000, 5000],
      [4999, 4999],
    ]);
    expect(parseKeyFile(formatKeyFile(schedule), 9000)).toEqual(schedule);
    expect(Buffer.from(audit, 'base64url')).toHaveLength(32);
  });

  it('of the first version gives every reader the same audit key, which is no other key of it', async () => {
    const text = JSON.stringify(await firstVersion());
    const [one, other] = [parseKeyFile(text, 5000), parseKeyFile(text, 6000)];
    expect(one.audit).toBe(other.audit);
    expect(text).not.toContain(one.audit);
    expect(parseKeyFile(JSON.stringify(await firstVersion()), 5000).audit).not.toBe(one.audit);
  });
});
