import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { KeyFileFault, loadKeyFile } from '../../src/crypto/key-file.ts';
import { generateKeySet, type KeySet } from '../../src/crypto/keys.ts';
import { randomSecret } from '../../src/crypto/secret.ts';
import { testFolder } from '../client/support/folder.ts';

const newFile = (): string => join(testFolder(), 'gatehouse.keys.json');

describe('the key file', () => {
  it('is made once, readable by its owner alone, and read the next time (T-163)', async () => {
    const file = newFile();
    const keys = await loadKeyFile(file, true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await loadKeyFile(file, false)).toEqual(keys);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ version: 1, ...keys });
  });

  it('made by several at once is that of the first, and no draft stays behind', async () => {
    const file = newFile();
    const sets = await Promise.all(Array.from({ length: 8 }, () => loadKeyFile(file, true)));
    expect(new Set(sets.map((keys) => JSON.stringify(keys))).size).toBe(1);
    expect(readdirSync(join(file, '..'))).toEqual(['gatehouse.keys.json']);
  });

  it('is not made where it may not be', async () => {
    const file = newFile();
    await expect(loadKeyFile(file, false)).rejects.toThrow(KeyFileFault);
    expect(existsSync(file)).toBe(false);
  });

  it.each([0o604, 0o640, 0o644, 0o660, 0o601])(
    'of mode %o is refused: others could read or change it (T-163)',
    async (mode) => {
      const file = newFile();
      await loadKeyFile(file, true);
      chmodSync(file, mode);
      await expect(loadKeyFile(file, true)).rejects.toThrow(`(mode ${mode.toString(8)}). Run: chmod 600`);
    },
  );

  it('that only its owner may read is enough', async () => {
    const file = newFile();
    const keys = await loadKeyFile(file, true);
    chmodSync(file, 0o400);
    expect(await loadKeyFile(file, true)).toEqual(keys);
  });

  it.each([
    ['is empty', ''],
    ['is no JSON', '{ "version": 1, "sealing": [ {'],
    ['is null', 'null'],
    ['is of another version', '{"version":2,"sealing":[{}],"cookies":["SECRET"],"signing":[{}]}'],
    ['lacks keys', '{"version":1,"sealing":[],"cookies":["SECRET"],"signing":[]}'],
  ])('that %s is refused, left as it is, and not shown', async (_fault, text) => {
    const file = newFile();
    writeFileSync(file, text, { mode: 0o600 });
    const refusal = await loadKeyFile(file, true).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(KeyFileFault);
    expect(String(refusal)).toMatch(/damaged\. Put its backup back/);
    expect(String(refusal)).not.toContain('SECRET');
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  const publicKey = ({ d: _d, ...rest }: JWK): JWK => rest;
  it.each<[string, (keys: KeySet, other: KeySet) => Partial<KeySet>]>([
    [
      'a sealing key of 16 bytes',
      ({ sealing }) => ({ sealing: [...sealing, { id: 'x', key: randomSecret(16) }] }),
    ],
    [
      'a sealing key without an id',
      ({ sealing }) => ({ sealing: sealing.map((key) => ({ ...key, id: '' })) }),
    ],
    ['an empty cookie key', ({ cookies }) => ({ cookies: [...cookies, ''] })],
    ['a cookie key of 31 characters', () => ({ cookies: ['x'.repeat(31)] })],
    ['a public signing key', ({ signing }) => ({ signing: signing.map(publicKey) })],
    [
      'a signing key without a kid',
      ({ signing }) => ({ signing: signing.map(({ kid: _kid, ...key }) => key) }),
    ],
    [
      'a signing key of another kind',
      ({ signing }) => ({ signing: [...signing, { kty: 'oct', k: 'AAAA', kid: '2' }] }),
    ],
    [
      'a signing key whose halves do not belong together',
      ({ signing }, other) => ({ signing: signing.map((key) => ({ ...key, d: other.signing[0]?.d ?? '' })) }),
    ],
  ])('with %s is refused (T-179)', async (_fault, change) => {
    const file = newFile();
    const keys = await generateKeySet();
    const changed = { version: 1, ...keys, ...change(keys, await generateKeySet()) };
    writeFileSync(file, JSON.stringify(changed), { mode: 0o600 });
    await expect(loadKeyFile(file, false)).rejects.toThrow(/The key file is damaged\. Put its backup back/);
  });
});
