import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  checkChosenSecret,
  hashClientSecret,
  isClientSecretHash,
  matchesClientSecret,
} from '../../../src/authorization-server/operator-clients/client-secret.ts';

const secret = '0123456789abcdef0123456789abcdef';

describe('the hash of a client secret', () => {
  it('is what sha256sum prints, so that an operator can make one', () => {
    const [printed] = execFileSync('sha256sum', { input: secret }).toString().split(' ');
    expect(hashClientSecret(secret)).toBe(`sha256:${printed}`);
    expect(isClientSecretHash(hashClientSecret(secret))).toBe(true);
  });

  it('is matched by its secret alone, and never by itself', () => {
    const stored = hashClientSecret(secret);
    expect(matchesClientSecret(stored, secret)).toBe(true);
    for (const wrong of ['', secret.slice(1), `${secret} `, secret.toUpperCase(), stored])
      expect(matchesClientSecret(stored, wrong)).toBe(false);
  });

  it.each([
    '',
    'sha256:',
    secret,
    `sha256:${'0'.repeat(63)}`,
    `sha256:${'G'.repeat(64)}`,
    `SHA256:${'0'.repeat(64)}`,
  ])('is not taken for one: %j', (text) => expect(isClientSecretHash(text)).toBe(false));
});

describe('a secret that an operator chose', () => {
  it('is long enough not to be guessed, and can be sent', () => {
    expect(checkChosenSecret(secret)).toBeUndefined();
    expect(checkChosenSecret(secret.slice(1))).toMatch(/at least 32 characters.*openssl rand/);
    expect(checkChosenSecret(`${secret} `)).toMatch(/no spaces/);
    expect(checkChosenSecret(`${secret}é`)).toMatch(/ASCII/);
  });
});
