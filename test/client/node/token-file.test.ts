import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { credentialKey, freshCredential } from '../../../src/client/index.ts';
import {
  createTokenFile,
  openTokenFile,
  TokenFileError,
  tokenFilePath,
} from '../../../src/client/node/index.ts';
import { formatTokenFile, parseTokenFile } from '../../../src/client/node/token-file.ts';
import { emptyStoreData, type StoreData } from '../../../src/client/stores/store-data.ts';
import { runFile } from '../support/child.ts';
import { testContext } from '../support/context.ts';
import { testCredential, testRegistration } from '../support/credentials.ts';
import { testFolder } from '../support/folder.ts';
import { startAuthorizationServer } from '../support/protected-server.ts';

const support = (name: string): string => fileURLToPath(new URL(`../support/${name}`, import.meta.url));
const server = 'https://mcp.example/mcp';

describe('the token file', () => {
  it('keeps logins by issuer and resource, readable by the owner only (T-188, A3-09)', async () => {
    const folder = join(testFolder(), 'home');
    const store = createTokenFile(folder);
    const first = testCredential();
    const second = testCredential({ issuer: 'https://two.example' });
    await store.saveCredential('https://other.example', first);
    await store.saveCredential(server, second);
    await store.saveRegistration(testRegistration());
    const file = tokenFilePath(folder);
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    expect((statSync(folder).mode & 0o777).toString(8)).toBe('700');
    expect(readdirSync(folder)).toEqual(['tokens.json']);
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).credentials)).toEqual(
      [first, second].map(credentialKey),
    );
    expect(await createTokenFile(folder).findCredential(server)).toEqual(second);
    await store.forgetCredential(second);
    await store.forgetRegistration('https://as.example', 'client');
    expect(await store.findCredential(server)).toBeUndefined();
    expect(await store.findRegistration('https://as.example')).toBeUndefined();
  });

  it('has no token any more of a login that one at another issuer replaced', async () => {
    const folder = testFolder();
    const store = createTokenFile(folder);
    const elsewhere = { issuer: 'https://two.example', accessToken: 'other', refreshToken: 'other' };
    await store.saveCredential(
      server,
      testCredential({ accessToken: 'replaced-at', refreshToken: 'replaced-rt' }),
    );
    await store.saveCredential(server, testCredential(elsewhere));
    expect(readFileSync(tokenFilePath(folder), 'utf8')).not.toMatch(/replaced-[ar]t/);
    expect(await store.findCredential(server)).toEqual(testCredential(elsewhere));
  });

  it('is not made by reading, nor by forgetting what is not there', async () => {
    const folder = join(testFolder(), 'home');
    expect(await createTokenFile(folder).findCredential(server)).toBeUndefined();
    await createTokenFile(folder).forgetEnded(undefined);
    expect(() => statSync(folder)).toThrow('ENOENT');
  });

  it('that is damaged is named, not overwritten and not quoted (T-188)', async () => {
    const folder = testFolder();
    const file = tokenFilePath(folder);
    writeFileSync(file, '{"version":1,"credentials":{"k":"very-secret"', { mode: 0o600 });
    const store = createTokenFile(folder);
    for (const work of [store.findCredential(server), store.saveCredential(server, testCredential())]) {
      const error = await work.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(TokenFileError);
      expect(String(error)).toContain(`${file} is damaged`);
      expect(String(error)).not.toContain('very-secret');
    }
    expect(readFileSync(file, 'utf8')).toContain('very-secret');
  });

  it('that is a symbolic link is refused (T-188)', async () => {
    const folder = testFolder();
    symlinkSync('/etc/hostname', tokenFilePath(folder));
    await expect(createTokenFile(folder).findCredential(server)).rejects.toThrow('symbolic link');
    await expect(createTokenFile(folder).saveRegistration(testRegistration())).rejects.toThrow(
      'symbolic link',
    );
  });

  it('loses nothing when many write at once', async () => {
    const folder = testFolder();
    const stores = [createTokenFile(folder), createTokenFile(folder)];
    const issuers = Array.from({ length: 20 }, (_, at) => `https://as${at}.example`);
    await Promise.all(
      issuers.map((issuer, at) => stores[at % 2]?.saveRegistration(testRegistration({ issuer }))),
    );
    const kept = await Promise.all(issuers.map((issuer) => createTokenFile(folder).findRegistration(issuer)));
    expect(kept.every((one) => one !== undefined)).toBe(true);
  });

  it('lets two processes refresh once: the loser reads the token of the winner (T-188, A9-05)', async () => {
    const as = await startAuthorizationServer();
    as.refreshTokens.add('rt');
    const folder = testFolder();
    const store = createTokenFile(folder);
    await store.saveRegistration(testRegistration({ issuer: as.origin }));
    await store.saveCredential(server, testCredential({ issuer: as.origin, expiresAt: 1 }));
    const children = Array.from({ length: 3 }, () => runFile(support('refresh-once.ts'), [folder, server]));
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0]);
    expect(as.asked()).toEqual(['POST /token']);
    const [token] = as.accessTokens;
    expect(children.map(({ output }) => output.stdout)).toEqual([token, token, token]);
  });

  it('lists the latest login to every server', async () => {
    const store = createTokenFile(testFolder());
    expect(await store.listLogins()).toEqual([]);
    const [first, second] = [testCredential(), testCredential({ issuer: 'https://two.example' })];
    await store.saveCredential('https://b.example/', first);
    await store.saveCredential('https://a.example/', first);
    await store.saveCredential('https://b.example/', second);
    expect(await store.listLogins()).toEqual([
      { server: 'https://a.example/', credential: first },
      { server: 'https://b.example/', credential: second },
    ]);
  });

  it('keeps what a login was like that has ended, without its tokens, until that is forgotten', async () => {
    const folder = testFolder();
    const store = createTokenFile(folder);
    const servers = ['https://a.example/', 'https://b.example/'];
    const credential = testCredential({
      accessToken: 'very-secret',
      refreshToken: 'very-secret',
      workload: true,
    });
    for (const one of servers) await store.saveCredential(one, credential);
    await store.endCredential(credential);
    const findAll = () => Promise.all(servers.map((one) => createTokenFile(folder).findFormerLogin(one)));
    const known = { issuer: 'https://as.example', chosen: {}, machine: { proof: 'assertion' } };
    expect(await findAll()).toMatchObject([known, known]);
    expect(readFileSync(tokenFilePath(folder), 'utf8')).not.toContain('very-secret');
    expect(await store.forgetEnded(servers[0])).toEqual([servers[0]]);
    expect(await findAll()).toMatchObject([undefined, known]);
    expect(await store.forgetEnded(undefined)).toEqual([servers[1]]);
    expect(await findAll()).toEqual([undefined, undefined]);
  });

  it('lists the registration at every issuer', async () => {
    const store = createTokenFile(testFolder());
    expect(await store.listRegistrations()).toEqual([]);
    const [first, second] = [testRegistration(), testRegistration({ issuer: 'https://two.example' })];
    await store.saveRegistration({ ...second, clientId: 'earlier' });
    await store.saveRegistration(first);
    await store.saveRegistration(second);
    expect(await store.listRegistrations()).toEqual([first, second]);
  });

  it('loses at most one renewal to kill -9 between redeeming and writing, and says so (CL-1, T-188)', async () => {
    const as = await startAuthorizationServer();
    as.refreshTokens.add('rt');
    const folder = testFolder();
    const store = createTokenFile(folder);
    await store.saveRegistration(testRegistration({ issuer: as.origin }));
    await store.saveCredential(
      server,
      testCredential({ issuer: as.origin, expiresAt: 1, workload: true, withoutResource: true }),
    );
    const token = as.routes['POST /token'];
    as.routes['POST /token'] = (request) => {
      if (typeof token === 'function') token(request);
      return { raw: () => undefined };
    };
    const child = runFile(support('refresh-once.ts'), [folder, server]);
    while (as.requests.length === 0) await sleep(10);
    child.process.kill('SIGKILL');
    await child.ended;
    if (token !== undefined) as.routes['POST /token'] = token;
    const begun = performance.now();
    const next = await freshCredential(testContext(), store, server).catch((error: unknown) => error);
    expect(next).toMatchObject({
      reason: 'login_required',
      message: expect.stringContaining('A process that renewed it was killed'),
      before: { machine: { proof: 'assertion' }, chosen: { withoutResource: true } },
    });
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(readdirSync(folder)).toEqual(['tokens.json']);
  });

  it('is whole after kill -9 at any moment, and the next process can write again (T-188)', async () => {
    const folder = testFolder();
    for (let round = 0; round < 3; round++) {
      const child = runFile(support('save-forever.ts'), [folder]);
      while (child.output.stdout === '') await sleep(10);
      await sleep(20 * round);
      child.process.kill('SIGKILL');
      await child.ended;
      const found = await createTokenFile(folder).findCredential('https://mcp.example');
      expect(found?.refreshToken).toBe(`rt-${found?.accessToken.split('-')[1]}`);
    }
    await createTokenFile(folder).saveRegistration(testRegistration());
  });
});

describe('the text of a token file', () => {
  it('gives back what was written', () => {
    const key = { kty: 'EC', alg: 'ES256', crv: 'P-256', x: 'x', y: 'y', d: 'd' };
    const book = {
      registrations: { 'https://as.example': testRegistration({ clientSecret: 's', privateKey: key }) },
      replaced: { '["https://as.example","earlier"]': testRegistration({ clientId: 'earlier' }) },
      credentials: {
        k: testCredential({
          renewAt: 1,
          dpopKey: key,
          withoutResource: true,
          grant: { type: 'client_credentials', privateKey: key },
          workload: true,
        }),
      },
      logins: { 'https://mcp.example/mcp': 'k' },
      ended: {
        'https://mcp.example/rest': {
          issuer: 'https://as.example',
          machine: { grant: 'workload_identity', clientId: 'ci', proof: 'assertion' },
          chosen: { dpop: true, withoutResource: true },
        },
      },
    } satisfies StoreData;
    expect(parseTokenFile(formatTokenFile(book))).toEqual(book);
    expect(JSON.parse(formatTokenFile(emptyStoreData()))).toMatchObject({ version: 1 });
  });

  it('of an earlier version, which knew neither logins that have ended nor clients that were replaced, is read', () => {
    const earlier = '{"version":1,"registrations":{},"credentials":{},"logins":{}}';
    expect(parseTokenFile(earlier)).toEqual(emptyStoreData());
  });

  it.each([
    '',
    '{',
    'null',
    '[]',
    '{"version":2,"registrations":{},"credentials":{},"logins":{}}',
    '{"version":1}',
  ])('%s is no token file', (text) => {
    expect(parseTokenFile(text)).toBeUndefined();
  });
});

describe('the logins of a user', () => {
  it('stand in GATEHOUSE_HOME and are plain where nothing can seal them (CL-13)', async () => {
    const folder = testFolder();
    const store = openTokenFile({ GATEHOUSE_HOME: folder, PATH: '/nowhere', GATEHOUSE_STORE: 'plain' });
    await store.saveRegistration(testRegistration());
    expect(await store.describe()).toMatchObject({ path: tokenFilePath(folder), sealedWith: undefined });
  });

  it('are kept as GATEHOUSE_STORE says, or as was chosen before it', () => {
    expect(() => openTokenFile({ GATEHOUSE_STORE: 'pocket' })).toThrow(
      'GATEHOUSE_STORE has to be one of auto, keychain, plain.',
    );
    expect(() => openTokenFile({ GATEHOUSE_STORE: 'pocket' }, 'plain')).not.toThrow();
  });

  it.runIf(process.platform === 'linux')('say that there is no keychain', async () => {
    const env = { GATEHOUSE_HOME: testFolder(), PATH: '/nowhere' };
    const store = openTokenFile(env);
    await store.saveRegistration(testRegistration());
    expect((await store.describe()).whyPlain).toBe('secret-tool is not installed');
    await expect(openTokenFile(env, 'keychain').saveRegistration(testRegistration())).rejects.toThrow(
      'because secret-tool is not installed',
    );
  });
});
