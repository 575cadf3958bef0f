import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';

/**
 * A keychain of the operating system, which stores a key for its user. Gatehouse stores one key of 32 bytes
 * there and seals the token file with it: keychains have tight limits on size, and a file can be replaced as
 * a whole.
 * The keychain is reached through the program of each system for it, and not through `@napi-rs/keyring`
 * (2.1.2: MIT, prebuilt for 12 platforms, widely used). Its constructor connects to the Secret Service
 * synchronously: while a keyring does not respond, all sessions of the process wait (2 s measured). A program
 * that waits for a dialogue can be killed, a native call cannot. By default it falls back to the kernel
 * keyring, whose keys are lost at a restart. And it would load 3 MB of native code into the process that
 * holds the tokens.
 */
export interface Keychain {
  kind: 'secret-service' | 'macos-keychain' | 'windows-dpapi';
  /** The name for people. */
  name: string;
  /**
   * Stores a new key.
   * @returns a reference to the key, which is no secret
   * @throws KeychainError
   */
  keep(key: Buffer): Promise<string>;
  /**
   * Finds a key.
   * @param reference see `keep`
   * @returns undefined if the keychain has no key with this reference
   * @throws KeychainError if it is locked or not reachable
   */
  find(reference: string): Promise<Buffer | undefined>;
}

/**
 * Returns the keychain of an operating system. It is first reached when it is used.
 * @param platform `process.platform`
 * @param env environment variables
 */
export function systemKeychain(
  platform: NodeJS.Platform = process.platform,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Keychain {
  if (platform === 'darwin') return createMacosKeychain(env);
  if (platform === 'win32') return createWindowsDpapi(env);
  return createSecretService(env);
}

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
      // There is no exit code for "not found": the program ends with 1 and prints nothing.
      if (result.code === 1 && result.stderr.trim() === '') return undefined;
      throw complaint(command, result);
    },
  };
}

/** Exit code of `security` for errSecItemNotFound (-25300): its last byte. */
const notFound = 44;

/**
 * The login keychain of macOS, through `security`. A new key is passed in its interactive mode, on standard
 * input: every process can read arguments (T-191).
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

/** Returns a PowerShell script that converts base64 on standard input to base64 on standard output. */
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
 * The data protection of Windows, through PowerShell. It stores nothing: it wraps the key so that only the
 * same user of the same machine can unwrap it. The wrapped key is the reference.
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

/** The keychain cannot be used. The message is a part of a sentence. */
export class KeychainError extends Error {
  override name = 'KeychainError';
}

/** Maximum wait for a keychain, which may show a dialogue to unlock it, in milliseconds. */
const keychainTimeoutMs = 60_000;

/** Maximum length of output, in characters. */
const maxOutputLength = 64 * 1024;

/** The result of a program. */
export interface ProgramResult {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs a program of the operating system, without a shell.
 * @param command the program
 * @param args its arguments, without secrets: every process of the machine can read them (T-191)
 * @param options its environment and standard input
 * @throws KeychainError if it is missing, or does not end within a minute
 */
export function runProgram(
  command: string,
  args: readonly string[],
  options: { env: Readonly<Record<string, string | undefined>>; input?: string },
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const output = { stdout: '', stderr: '' };
    const child = spawn(command, [...args], { stdio: 'pipe', shell: false, env: { ...options.env } });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new KeychainError(`${command} did not end within ${keychainTimeoutMs / 1000} s`));
    }, keychainTimeoutMs);
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        if (output[stream].length < maxOutputLength) output[stream] += text;
      });
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const why = error.code === 'ENOENT' ? 'is not installed' : `cannot be started (${error.code})`;
      reject(new KeychainError(`${command} ${why}`));
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? -1, ...output });
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}

/** Returns the error message of a program, as a part of a sentence. */
export function complaint(command: string, { code, stderr }: ProgramResult): KeychainError {
  const [line = ''] = stderr
    .split('\n')
    .map((one) => one.replace(`${command}:`, '').trim())
    .filter((one) => one !== '');
  return new KeychainError(`${command} ended with ${code}${line === '' ? '' : `: ${line.slice(0, 200)}`}`);
}
