import { randomBytes } from 'node:crypto';
import { mkdirSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { thisHolder } from '../../../src/client/node/file-lock.ts';
import { createTokenFile } from '../../../src/client/node/token-file.ts';
import { sealText } from '../../../src/client/node/token-file-seal.ts';
import type { Machine } from '../../../src/doctor/machine/machine.ts';
import { locksCheck, storeCheck, twoStoresCheck } from '../../../src/doctor/machine/store.ts';
import { finding, put, serverUrl, testMachine } from './test-machine.ts';

async function withLogin(): Promise<{ machine: Machine; file: string }> {
  const machine = testMachine();
  await createTokenFile(join(machine.home, '.gatehouse')).saveRegistration({
    issuer: 'https://as.example.com',
    clientId: 'c',
    redirectUris: [],
    source: 'dynamic',
  });
  return { machine, file: join(machine.home, '.gatehouse/tokens.json') };
}

describe('MACHINE-STORE', () => {
  it('passes where nothing is kept, and says where it would go', async () => {
    const machine = testMachine();
    const found = await finding(storeCheck(machine));
    expect(found).toMatchObject({ verdict: 'pass' });
    expect(found.saw).toContain(join(machine.home, '.gatehouse/tokens.json'));
  });

  it('passes for a store as this client writes it, and says how it is kept (CL-13)', async () => {
    const { machine, file } = await withLogin();
    const found = await finding(storeCheck(machine));
    expect(found.verdict).toBe('pass');
    expect(found.saw).toContain(file);
    expect(found.saw).toMatch(/in plain text|sealed with a key/);
  });

  it('finds a file that others can read, and says how to close it (T-188)', async () => {
    const { machine, file } = await withLogin();
    put(machine.home, '.gatehouse/tokens.json', '{}', 0o644);
    const found = await finding(storeCheck(machine));
    expect(found.verdict).toBe('fail');
    expect(found.saw).toContain(`${file} has mode 0644`);
    expect(found.fix).toContain(`chmod 600 ${file}`);
  });

  it('finds a folder that others can enter', async () => {
    const machine = testMachine();
    const folder = join(machine.home, '.gatehouse');
    mkdirSync(folder, { mode: 0o755 });
    const found = await finding(storeCheck(machine));
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('0755') });
    expect(found.fix).toContain(`chmod 700 ${folder}`);
  });

  it('finds a store that is a symbolic link', async () => {
    const machine = testMachine();
    symlinkSync('/tmp', join(machine.home, '.gatehouse'));
    expect(await finding(storeCheck(machine))).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining('symbolic link'),
    });
  });

  it('finds a store of another user', async () => {
    const { machine } = await withLogin();
    const found = await finding(storeCheck({ ...machine, userId: (machine.userId ?? 0) + 1 }));
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('belongs to the user') });
  });

  it.each(['', 'not json', '[]'])('finds a damaged file: %j', async (content) => {
    const machine = testMachine();
    put(machine.home, '.gatehouse/tokens.json', content);
    expect(await finding(storeCheck(machine))).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining('damaged'),
    });
  });

  it('looks where $GATEHOUSE_HOME says, and says nothing of modes on Windows', async () => {
    const { machine } = await withLogin();
    put(
      machine.home,
      '.gatehouse/tokens.json',
      { version: 1, registrations: {}, credentials: {}, logins: {} },
      0o600,
    );
    const env = { GATEHOUSE_HOME: join(machine.home, '.gatehouse') };
    const found = await finding(storeCheck({ ...machine, home: '/nowhere', env, platform: 'win32' }));
    expect(found).toMatchObject({ verdict: 'pass', saw: expect.stringContaining('was not looked at') });
  });

  it('finds a sealed store whose keychain cannot be reached (CL-13)', async () => {
    const machine = testMachine();
    const sealed = sealText('{}', randomBytes(32), { keychain: 'secret-service', key: 'gone' });
    put(machine.home, '.gatehouse/tokens.json', sealed);
    const found = await finding(storeCheck(machine));
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('is sealed with a key') });
    expect(found.fix).toContain('--store plain');
  });
});

describe('MACHINE-LOCK', () => {
  it('passes without locks, and without a store', async () => {
    const machine = testMachine();
    expect(await finding(locksCheck(machine))).toMatchObject({ verdict: 'pass', saw: 'No lock is held.' });
  });

  it('passes for a lock in use', async () => {
    const machine = testMachine();
    put(machine.home, '.gatehouse/tokens.json.lock', JSON.stringify(thisHolder()));
    const found = await finding(locksCheck(machine));
    expect(found).toMatchObject({
      verdict: 'pass',
      saw: expect.stringContaining(`pid ${process.pid} lives`),
    });
  });

  it('finds a lock nobody has touched for long (CL-4)', async () => {
    const machine = testMachine();
    const file = put(machine.home, '.gatehouse/refresh-0123.lock', 'an owner');
    const then = (Date.now() - 120_000) / 1000;
    utimesSync(file, then, then);
    const found = await finding(locksCheck(machine));
    expect(found.verdict).toBe('warn');
    expect(found.saw).toContain('refresh-0123.lock (120 s old)');
  });

  it('finds a lock whose holder is gone (CL-1)', async () => {
    const machine = testMachine();
    put(machine.home, '.gatehouse/tokens.json.lock', JSON.stringify({ ...thisHolder(), pid: 4_194_305 }));
    const found = await finding(locksCheck(machine));
    expect(found).toMatchObject({ verdict: 'warn', saw: expect.stringContaining('pid 4194305 is gone') });
  });
});

describe('two stores', () => {
  function keep(folder: string, accessToken: string): Promise<void> {
    return createTokenFile(folder).saveCredential(serverUrl, {
      authorizationServer: {
        issuer: 'https://as.example.com',
        token_endpoint: 'https://as.example.com/token',
      },
      resource: serverUrl,
      clientId: 'c',
      accessToken,
    });
  }

  describe('MACHINE-TWO-STORES', () => {
    it('passes with one place', async () => {
      expect(await finding(twoStoresCheck(testMachine()))).toMatchObject({ verdict: 'pass' });
    });

    it('finds two places with different logins to the server, and shows neither token', async () => {
      const machine = testMachine();
      const other = join(machine.workingFolder, 'kept');
      await keep(other, 'token-one');
      await keep(join(machine.home, '.gatehouse'), 'token-two');
      const found = await finding(twoStoresCheck({ ...machine, env: { GATEHOUSE_HOME: other } }));
      expect(found.verdict).toBe('warn');
      expect(found.saw).toContain(other);
      expect(JSON.stringify(found)).not.toMatch(/token-(one|two)/);
    });

    it('passes where only one of the two has a login', async () => {
      const machine = testMachine();
      const other = join(machine.workingFolder, 'kept');
      await keep(other, 'token-one');
      const found = await finding(twoStoresCheck({ ...machine, env: { GATEHOUSE_HOME: other } }));
      expect(found.verdict).toBe('pass');
    });
  });
});
