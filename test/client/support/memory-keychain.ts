import { type Keychain, KeychainError } from '../../../src/client/node/keychain.ts';

/** A keychain that lives as long as the test, and can be locked. */
export function memoryKeychain(): Keychain & { keys: Map<string, Buffer>; locked: boolean; asked: number } {
  const keychain = {
    kind: 'secret-service' as const,
    name: 'the keychain of the test',
    keys: new Map<string, Buffer>(),
    locked: false,
    asked: 0,
    keep: async (key: Buffer) => {
      if (keychain.locked) throw new KeychainError('it is locked');
      const reference = `key-${keychain.keys.size + 1}`;
      keychain.keys.set(reference, Buffer.from(key));
      return reference;
    },
    find: async (reference: string) => {
      keychain.asked++;
      if (keychain.locked) throw new KeychainError('it is locked');
      return keychain.keys.get(reference);
    },
  };
  return keychain;
}
