import { describe, expect, it } from 'vitest';
import { credentialKey } from '../../../src/client/index.ts';
import { testCredential } from '../support/credentials.ts';

describe('the key of a credential', () => {
  it('holds issuer and resource so that neither can run into the other (A3-09)', () => {
    const one = credentialKey(testCredential({ issuer: 'https://a', resource: 'https://b' }));
    const two = credentialKey(testCredential({ issuer: 'https://ahttps://b', resource: '' }));
    expect(one).toBe('["https://a","https://b"]');
    expect(two).not.toBe(one);
  });
});
