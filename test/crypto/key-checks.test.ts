import type { JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { checkKeys } from '../../src/crypto/key-checks.ts';
import { generateSchedule } from '../../src/crypto/key-file-format.ts';
import type { KeySchedule, ScheduledKey } from '../../src/crypto/key-schedule.ts';
import { randomSecret } from '../../src/crypto/secret.ts';

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
