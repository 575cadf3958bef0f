import { randomUUID } from 'node:crypto';
import type { Keychain } from './keychain.ts';
import { complaint, runProgram } from './run-program.ts';

/** `security` ends with the last byte of errSecItemNotFound (-25300). */
const notFound = 44;

/**
 * The login keychain of macOS, through `security`. A new key goes in by its interactive mode, which reads commands from
 * standard input: as an argument every process could read it (T-191).
 * @param env environment variables
 * @param command the program
 */
export function createMacosKeychain(
  env: Readonly<Record<string, string | undefined>>,
  command = '/usr/bin/security',
): Keychain {
  return {
    kind: 'macos-keychain',
    name: 'the macOS keychain',
    keep: async (key) => {
      const reference = randomUUID();
      const line = `add-generic-password -U -s mcp-gatehouse -a ${reference} -l "Gatehouse logins" -w ${key.toString('hex')}\n`;
      const result = await runProgram(command, ['-i'], { env, input: line });
      if (result.code !== 0) throw complaint(command, result);
      return reference;
    },
    find: async (reference) => {
      const args = ['find-generic-password', '-s', 'mcp-gatehouse', '-a', reference, '-w'];
      const result = await runProgram(command, args, { env });
      if (result.code === notFound) return undefined;
      if (result.code !== 0) throw complaint(command, result);
      return Buffer.from(result.stdout.trim(), 'hex');
    },
  };
}
