import { describe, expect, it } from 'vitest';
import { deriveNonceSecret } from '../../src/authorization-server/used-proofs.ts';

describe('the secret of the nonces', () => {
  it('has 32 bytes, the same for every process with the key file, and another with another first key', () => {
    const secret = deriveNonceSecret({ cookies: ['a', 'b'] });
    expect(secret).toHaveLength(32);
    expect(deriveNonceSecret({ cookies: ['a'] })).toEqual(secret);
    expect(deriveNonceSecret({ cookies: ['b', 'a'] })).not.toEqual(secret);
  });
});
