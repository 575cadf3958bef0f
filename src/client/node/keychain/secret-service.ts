import { randomUUID } from 'node:crypto';
import type { Keychain } from './keychain.ts';
import { complaint, runProgram } from './run-program.ts';

const command = 'secret-tool';

const attributes = (reference: string): string[] => ['service', 'mcp-gatehouse', 'key', reference];

/**
 * The keychain of Linux desktops (GNOME Keyring, KWallet, KeePassXC), through libsecret's `secret-tool`.
 * @param env environment variables, with the address of the user's D-Bus
 * @see freedesktop.org Secret Service API
 */
export function createSecretService(env: Readonly<Record<string, string | undefined>>): Keychain {
  return {
    kind: 'secret-service',
    name: 'the keyring of this desktop',
    keep: async (key) => {
      const reference = randomUUID();
      const args = ['store', '--label=Gatehouse logins', ...attributes(reference)];
      const result = await runProgram(command, args, { env, input: key.toString('hex') });
      if (result.code !== 0) throw complaint(command, result);
      return reference;
    },
    find: async (reference) => {
      const result = await runProgram(command, ['lookup', ...attributes(reference)], { env });
      if (result.code === 0) return Buffer.from(result.stdout.trim(), 'hex');
      // It has no code of its own for "there is none": it ends with 1 and says nothing.
      if (result.code === 1 && result.stderr.trim() === '') return undefined;
      throw complaint(command, result);
    },
  };
}
