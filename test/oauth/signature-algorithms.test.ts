import { expect, it } from 'vitest';
import { privateKeyAlgorithms } from '../../src/oauth/signature-algorithms.ts';

it('no algorithm of a shared secret, and not none, is one of a private key', () => {
  expect(privateKeyAlgorithms.filter((alg) => /^HS|^none$/i.test(alg))).toEqual([]);
  expect(privateKeyAlgorithms).toContain('RS256');
});
