import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTokenFile, tokenFilePath } from '../../../../src/client/node/index.ts';
import { createSecretService } from '../../../../src/client/node/keychain/secret-service.ts';
import { testCredential } from '../../support/credentials.ts';
import { hasDesktopKeyring, startDesktopKeyring } from '../../support/desktop-keyring.ts';
import { testFolder } from '../../support/folder.ts';

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
