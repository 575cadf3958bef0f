import type { Keychain } from './keychain.ts';
import { complaint, runProgram } from './run-program.ts';

/** A PowerShell script that turns base64 on standard input into base64 on standard output. */
function script(method: 'Protect' | 'Unprotect'): string {
  return [
    "$ErrorActionPreference = 'Stop'",
    'Add-Type -AssemblyName System.Security',
    '$given = [Convert]::FromBase64String([Console]::In.ReadToEnd().Trim())',
    `$made = [Security.Cryptography.ProtectedData]::${method}($given, $null, 'CurrentUser')`,
    '[Console]::Out.Write([Convert]::ToBase64String($made))',
  ].join('; ');
}

/**
 * The data protection of Windows, through PowerShell. It keeps nothing: it wraps the key so that only the same user of
 * the same machine can unwrap it, and the wrapped key is the reference.
 * @param env environment variables
 * @param command the program
 * @see Windows CryptProtectData
 */
export function createWindowsDpapi(
  env: Readonly<Record<string, string | undefined>>,
  command = 'powershell.exe',
): Keychain {
  const turn = async (method: 'Protect' | 'Unprotect', input: string): Promise<string> => {
    const args = ['-NoProfile', '-NonInteractive', '-Command', script(method)];
    const result = await runProgram(command, args, { env, input });
    if (result.code !== 0) throw complaint(command, result);
    return result.stdout.trim();
  };
  return {
    kind: 'windows-dpapi',
    name: 'the data protection of Windows',
    keep: (key) => turn('Protect', key.toString('base64')),
    find: async (reference) => Buffer.from(await turn('Unprotect', reference), 'base64'),
  };
}
