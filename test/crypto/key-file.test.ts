import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  checkKeys,
  createKeyFile,
  formatKeyFile,
  generateSchedule,
  KeyFileFault,
  keyFileMark,
  parseKeyFile,
  readKeyFile,
  replaceKeyFile,
} from '../../src/crypto/key-file.ts';
import {
  generateKeySet,
  type KeySchedule,
  keysAt,
  type ScheduledKey,
} from '../../src/crypto/key-schedule.ts';
import { randomSecret } from '../../src/crypto/secret.ts';
import { testFolder } from '../client/support/folder.ts';
import { mayMount } from '../flows/faults/support/faulty-machine.ts';

const newFile = (): string => join(testFolder(), 'gatehouse.keys.json');

describe('the key file', () => {
  it('is made once, readable by its owner alone, and read the next time (T-163)', async () => {
    const file = newFile();
    await createKeyFile(file, 1000);
    const text = readFileSync(file, 'utf8');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await createKeyFile(file, 2000);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(JSON.parse(text)).toEqual({ version: 2, ...readKeyFile(file) });
  });

  it('made by several at once is that of the first, and no draft stays behind', async () => {
    const file = newFile();
    const made = Array.from({ length: 8 }, async () => {
      await createKeyFile(file, 1000);
      return readFileSync(file, 'utf8');
    });
    expect(new Set(await Promise.all(made)).size).toBe(1);
    expect(readdirSync(join(file, '..'))).toEqual(['gatehouse.keys.json']);
  });

  it('that is missing is not read, and not made', () => {
    const file = newFile();
    expect(() => readKeyFile(file)).toThrow(/Put the key file back beside it/);
    expect(existsSync(file)).toBe(false);
  });

  it.each([0o604, 0o640, 0o644, 0o660, 0o601])(
    'of mode %o is refused: others could read or change it (T-163)',
    async (mode) => {
      const file = newFile();
      await createKeyFile(file, 1000);
      chmodSync(file, mode);
      expect(() => readKeyFile(file)).toThrow(`(mode ${mode.toString(8)}). Run: chmod 600`);
    },
  );

  it('that only its owner may read is enough', async () => {
    const file = newFile();
    await createKeyFile(file, 1000);
    const keys = readKeyFile(file);
    chmodSync(file, 0o400);
    expect(readKeyFile(file)).toEqual(keys);
  });

  it.each([
    ['is empty', ''],
    ['is no JSON', '{ "version": 2, "sealing": [ {'],
    ['is null', 'null'],
    ['is of no version', '{"version":"3","sealing":[{}],"cookies":["SECRET"],"signing":[{}]}'],
    ['lacks keys', '{"version":2,"sealing":[],"cookies":["SECRET"],"signing":[],"audit":"SECRET"}'],
    ['lacks lists', '{"version":2,"audit":"SECRET"}'],
    ['of the first version lacks lists', '{"version":1,"cookies":["SECRET"]}'],
  ])('that %s is refused, left as it is, and not shown (T-163, T-179)', (_fault, text) => {
    const file = newFile();
    writeFileSync(file, text, { mode: 0o600 });
    expect(() => readKeyFile(file)).toThrow(KeyFileFault);
    expect(() => readKeyFile(file)).toThrow(/damaged\. Put its backup back/);
    expect(() => readKeyFile(file)).not.toThrow(/SECRET/);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('that a newer program wrote is not called damaged: an older one in its place would open nothing new (T-174, T-179)', () => {
    const file = newFile();
    const text = '{"version":3,"keys":["SECRET"]}';
    writeFileSync(file, text, { mode: 0o600 });
    expect(() => readKeyFile(file)).toThrow(KeyFileFault);
    expect(() => readKeyFile(file)).toThrow(
      /^The key file is of version 3, .* Use the newer program .*, or restore a backup/,
    );
    expect(() => readKeyFile(file)).not.toThrow(/SECRET|damaged/);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('is replaced whole, for its owner alone, and another mark tells so', async () => {
    const file = newFile();
    await createKeyFile(file, 1000);
    const mark = keyFileMark(file);
    const next = await generateSchedule(2000);
    replaceKeyFile(file, next);
    expect(readKeyFile(file)).toEqual(next);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(keyFileMark(file)).not.toBe(mark);
    expect(readdirSync(join(file, '..'))).toEqual(['gatehouse.keys.json']);
    expect(keyFileMark(join(file, '..', 'none'))).toBe('');
  });

  it.skipIf(!mayMount)('stays as it was on a full disk, which is said, with nothing left beside it', () => {
    const folder = dirname(newFile());
    const room = new URL('../../src/crypto/', import.meta.url);
    const script = `import { readdirSync, writeFileSync } from 'node:fs';
      import { createKeyFile, readKeyFile, replaceKeyFile } from '${room}key-file.ts';
      const file = '${folder}/gatehouse.keys.json';
      const say = ({ name, message }) => console.log(name, message);
      await createKeyFile(file, 1);
      const before = readKeyFile(file);
      try { writeFileSync('${folder}/filler', Buffer.alloc(1_000_000)); } catch {}
      try { replaceKeyFile(file, before); } catch (error) { say(error); }
      await createKeyFile('${folder}/other.json', 1).catch(say);
      readKeyFile(file);
      console.log(readdirSync('${folder}').sort().join());`;
    const said = execFileSync(
      'unshare',
      [
        ...['-m', 'sh', '-c', `mount -t tmpfs -o size=64k tmpfs "${folder}" && exec "$@"`, 'sh'],
        ...[process.execPath, '--input-type=module', '-e', script],
      ],
      { encoding: 'utf8' },
    );
    const full =
      'KeyFileFault The keys cannot be written: the disk is full (ENOSPC). Free some space and try again; nothing was changed.\n';
    expect(said).toBe(`${full}${full}filler,gatehouse.keys.json\n`);
  });
});

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

const entry = <T>(id: string, key: T): ScheduledKey<T> => ({ id, key, createdAt: 1, activeAt: 1 });
const ec = { kty: 'EC', crv: 'P-256' };
const publicKey = ({ d: _d, ...rest }: JWK): JWK => rest;
const change = <T>(keys: ScheduledKey<T>[], key: (old: T) => T): ScheduledKey<T>[] =>
  keys.map((old) => ({ ...old, key: key(old.key) }));

describe('keys', () => {
  it('that are fresh can be used', async () => {
    expect(checkKeys(await generateSchedule(1000))).toBeUndefined();
  });

  it.each<[string, (keys: KeySchedule, other: KeySchedule) => Partial<Record<keyof KeySchedule, unknown>>]>([
    ['a sealing key of 16 bytes', () => ({ sealing: [entry('x', randomSecret(16))] })],
    [
      'a sealing key without an id',
      ({ sealing }) => ({ sealing: sealing.map((key) => ({ ...key, id: '' })) }),
    ],
    ['two sealing keys of one id', ({ sealing }) => ({ sealing: [...sealing, ...sealing] })],
    ['a sealing key of zeros', () => ({ sealing: [entry('x', 'A'.repeat(43))] })],
    [
      'a sealing key without times',
      ({ sealing }) => ({ sealing: sealing.map(({ id, key }) => ({ id, key })) }),
    ],
    ['no cookie key', () => ({ cookies: [] })],
    ['an empty cookie key', ({ cookies }) => ({ cookies: [...cookies, entry('x', '')] })],
    ['a cookie key of 31 characters', () => ({ cookies: [entry('x', randomSecret(32).slice(0, 31))] })],
    ['a default cookie key', () => ({ cookies: [entry('x', 'changeme'.repeat(8))] })],
    ['a short audit key', () => ({ audit: 'audit' })],
    ['no audit key', () => ({ audit: undefined })],
    ['a public signing key', ({ signing }) => ({ signing: change(signing, publicKey) })],
    [
      'a signing key without a kid',
      ({ signing }) => ({ signing: change(signing, ({ kid: _, ...key }) => key) }),
    ],
    ['a signing key of another kind', () => ({ signing: [entry('2', { kty: 'oct', k: 'AAAA', kid: '2' })] })],
    [
      'a signing key whose halves do not belong together',
      ({ signing }, other) => ({
        signing: change(signing, (key) => ({ ...key, d: other.signing[0]?.key.d ?? '' })),
      }),
    ],
    [
      'the signing key of RFC 7515 appendix A.3',
      () => ({
        signing: [
          entry('x', {
            ...ec,
            kid: 'x',
            x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
            y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
            d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
          }),
        ],
      }),
    ],
    [
      'the signing key of RFC 7517 appendix A.2',
      () => ({
        signing: [
          entry('1', {
            ...ec,
            kid: '1',
            x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
            y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
            d: '870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE',
          }),
        ],
      }),
    ],
  ])('with %s are refused, and none is named (T-163, T-179)', async (_fault, make) => {
    const keys = await generateSchedule(1000);
    const changed = { ...keys, ...make(keys, await generateSchedule(1000)) } as KeySchedule;
    const fault = judge(changed);
    expect(fault).toMatch(/key/);
    for (const { key } of [...keys.cookies, ...keys.sealing]) expect(fault).not.toContain(key);
  });
});

/** What is wrong with keys, whether it is said or thrown: both refuse the file. */
function judge(keys: KeySchedule): string {
  try {
    return checkKeys(keys) ?? '';
  } catch (error) {
    return String(error);
  }
}
