import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTokenFile, tokenFilePath } from '../../../src/client/node/index.ts';
import {
  complaint,
  createMacosKeychain,
  createSecretService,
  createWindowsDpapi,
  runProgram,
  systemKeychain,
} from '../../../src/client/node/keychain.ts';
import { testCredential } from '../support/credentials.ts';
import { hasDesktopKeyring, startDesktopKeyring } from '../support/desktop-keyring.ts';
import { testFolder } from '../support/folder.ts';
import { standIn } from '../support/stand-in.ts';

describe('the keychain of an operating system', () => {
  it.each([
    ['darwin', 'macos-keychain'],
    ['win32', 'windows-dpapi'],
    ['linux', 'secret-service'],
    ['freebsd', 'secret-service'],
  ] as const)('%s is %s', (platform, kind) => {
    expect(systemKeychain(platform, {}).kind).toBe(kind);
  });
});

describe('the keyring of a desktop', () => {
  it.runIf(hasDesktopKeyring)('keeps keys and gives them back; it has no others', async () => {
    const keychain = createSecretService(await startDesktopKeyring());
    const keys = [randomBytes(32), randomBytes(32)];
    for (const key of keys) expect(await keychain.find(await keychain.keep(key))).toEqual(key);
    expect(await keychain.find('another')).toBeUndefined();
  });

  it.runIf(hasDesktopKeyring)('seals the logins of its user (A9-04, CL-13)', async () => {
    const env = { ...(await startDesktopKeyring()), GATEHOUSE_HOME: join(testFolder(), 'home') };
    const server = 'https://mcp.example/mcp';
    await openTokenFile(env).saveCredential(server, testCredential({ accessToken: 'very-secret' }));
    const file = tokenFilePath(env.GATEHOUSE_HOME);
    expect(readFileSync(file, 'utf8')).not.toContain('very-secret');
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    const again = openTokenFile(env);
    expect((await again.findCredential(server))?.accessToken).toBe('very-secret');
    expect(await again.describe()).toMatchObject({ sealedWith: 'the keyring of this desktop' });
  });

  it.runIf(hasDesktopKeyring)('says that it cannot be reached', async () => {
    const keychain = createSecretService({
      PATH: '/usr/bin',
      DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere',
    });
    await expect(keychain.keep(randomBytes(32))).rejects.toThrow(/^secret-tool ended with 1: /);
    await expect(keychain.find('one')).rejects.toThrow(/^secret-tool ended with 1: /);
  });

  it('says that its program is missing', async () => {
    const keychain = createSecretService({ PATH: '/nowhere' });
    await expect(keychain.find('one')).rejects.toThrow('secret-tool is not installed');
  });
});

describe('macos keychain', () => {
  const env = { PATH: '/usr/bin:/bin' };

  /** As `security` of macOS 15: `-i` reads commands; `-w` at the end prints the secret; 44 means that there is none. */
  const security = `
if [ "$1" = -i ]; then
  read -r line; echo "$line" > "$seen/line"; echo "\${line##* }" > "$seen/secret"; exit 0
fi
[ "$1" = find-generic-password ] || exit 2
case "$(cat "$seen/line" 2>/dev/null)" in
  *" -a $5 "*) cat "$seen/secret";;
  *) echo 'The specified item could not be found in the keychain.' >&2; exit 44;;
esac`;

  describe.skipIf(process.platform === 'win32')('the keychain of macOS', () => {
    it('keeps a key that never stands in the arguments (T-191)', async () => {
      const { command, seen } = standIn(security);
      const keychain = createMacosKeychain(env, command);
      const key = randomBytes(32);
      const reference = await keychain.keep(key);
      expect(await keychain.find(reference)).toEqual(key);
      expect(await keychain.find('another')).toBeUndefined();
      expect(readFileSync(join(seen, 'arguments'), 'utf8')).not.toContain(key.toString('hex'));
      expect(readFileSync(join(seen, 'line'), 'utf8')).toBe(
        `add-generic-password -U -s mcp-gatehouse -a ${reference} -l "Gatehouse logins" -w ${key.toString('hex')}\n`,
      );
    });

    it('says that it is locked, as over SSH', async () => {
      const { command } = standIn("echo 'User interaction is not allowed.' >&2; exit 36");
      const keychain = createMacosKeychain(env, command);
      await expect(keychain.find('one')).rejects.toThrow('ended with 36: User interaction is not allowed.');
      await expect(keychain.keep(randomBytes(32))).rejects.toThrow('User interaction is not allowed.');
    });
  });
});

describe('windows dpapi', () => {
  const env = { PATH: '/usr/bin:/bin' };

  /** Wraps by turning the text round, as base64 of it. */
  const powershell = `
case "$4" in
  *'::Protect('*) rev | base64 -w 0;;
  *'::Unprotect('*) base64 -d | rev;;
  *) exit 1;;
esac`;

  describe.skipIf(process.platform === 'win32')('the data protection of Windows', () => {
    it('wraps a key that never stands in the arguments (T-191)', async () => {
      const { command, seen } = standIn(powershell);
      const protection = createWindowsDpapi(env, command);
      const key = randomBytes(32);
      const reference = await protection.keep(key);
      expect(reference).not.toContain(key.toString('base64'));
      expect(await protection.find(reference)).toEqual(key);
      expect(readFileSync(join(seen, 'arguments'), 'utf8')).not.toContain(key.toString('base64'));
    });

    it('says what PowerShell says', async () => {
      const { command } = standIn("echo 'Key not valid for use in specified state.' >&2; exit 1");
      await expect(createWindowsDpapi(env, command).find('x')).rejects.toThrow('Key not valid for use');
    });
  });
});

describe('run program', () => {
  const run = (script: string, input?: string) =>
    runProgram(process.execPath, ['-e', script], { env: {}, ...(input === undefined ? {} : { input }) });

  describe('a program of the system', () => {
    it('reads its input and says how it ended', async () => {
      expect(await run('process.stdin.pipe(process.stdout)', 'hello')).toEqual({
        code: 0,
        stdout: 'hello',
        stderr: '',
      });
      expect(await run('console.error("no"); process.exitCode = 3')).toEqual({
        code: 3,
        stdout: '',
        stderr: 'no\n',
      });
    });

    it('may end without reading', async () => {
      expect((await run('process.exit(4)', 'x'.repeat(1_000_000))).code).toBe(4);
    });

    it('that is missing is named', async () => {
      await expect(runProgram('/nowhere/tool', [], { env: {} })).rejects.toThrow(
        '/nowhere/tool is not installed',
      );
    });

    it('is repeated with the first line of its complaint only', () => {
      expect(complaint('tool', { code: 1, stdout: 'secret', stderr: '\n  no bus \nmore' }).message).toBe(
        'tool ended with 1: no bus',
      );
      expect(complaint('tool', { code: 1, stdout: '', stderr: '' }).message).toBe('tool ended with 1');
    });
  });
});
