import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createTokenFile, type TokenFileOptions, tokenFilePath } from '../../../src/client/node/index.ts';
import { openText, parseSealedText, sealText } from '../../../src/client/node/token-file-seal.ts';
import { testCredential, testRegistration } from '../support/credentials.ts';
import { testFolder } from '../support/folder.ts';
import { memoryKeychain } from '../support/memory-keychain.ts';

const server = 'https://mcp.example/mcp';

function setUp(sealing?: TokenFileOptions['sealing']) {
  const folder = testFolder();
  const keychain = memoryKeychain();
  const open = (options: TokenFileOptions = {}) => createTokenFile(folder, { keychain, sealing, ...options });
  const text = (): string => readFileSync(tokenFilePath(folder), 'utf8');
  return { folder, keychain, open, text };
}

describe('a token file is sealed with a key of the keychain (A9-04, CL-13)', () => {
  it('and opened by every process of the user, keys of tokens included (A13-09)', async () => {
    const { keychain, open, text } = setUp('keychain');
    const credential = testCredential({ dpopKey: { kty: 'EC', d: 'very-secret' } });
    await open().saveCredential(server, credential);
    await open().saveRegistration(testRegistration({ clientSecret: 'very-secret' }));
    expect(text()).not.toMatch(/very-secret|as\.example|mcp\.example|"at"/);
    expect(await open().findCredential(server)).toEqual(credential);
    expect(keychain.keys.size).toBe(1);
    expect(await open().describe()).toMatchObject({ sealedWith: keychain.name, whyPlain: undefined });
  });

  it('which is asked for once by each store, however often it is used', async () => {
    const { keychain, open } = setUp('keychain');
    await open().saveCredential(server, testCredential());
    const store = open();
    keychain.asked = 0;
    for (const _ of [1, 2, 3]) await store.findCredential(server);
    expect(keychain.asked).toBe(1);
  });

  it('where it was plain, with the first write', async () => {
    const { open, text } = setUp('auto');
    await open({ sealing: undefined }).saveCredential(server, testCredential());
    expect(text()).toContain('"accessToken": "at"');
    await open().findCredential(server);
    expect(text()).toContain('"accessToken": "at"');
    await open().saveRegistration(testRegistration());
    expect(text()).not.toContain('accessToken');
    expect((await open().findCredential(server))?.accessToken).toBe('at');
  });

  it('but not where plain text was chosen, until another choice', async () => {
    const { open, text } = setUp('auto');
    await open({ sealing: 'plain' }).saveCredential(server, testCredential());
    for (const sealing of ['auto', undefined] as const) {
      await open({ sealing }).saveRegistration(testRegistration());
      expect(text()).toContain('"accessToken": "at"');
    }
    await open({ sealing: 'keychain' }).saveRegistration(testRegistration());
    expect(text()).not.toContain('accessToken');
    await open().saveRegistration(testRegistration());
    expect(text()).not.toContain('accessToken');
  });

  it('or becomes plain again, where that is chosen', async () => {
    const { open, text } = setUp('keychain');
    await open().saveCredential(server, testCredential());
    await open({ sealing: 'plain' }).saveRegistration(testRegistration());
    expect(text()).toContain('"accessToken": "at"');
  });

  it('or stays as it is, where nothing is chosen', async () => {
    const { open, text } = setUp();
    await open().saveRegistration(testRegistration());
    expect(text()).toContain('as.example');
    await open({ sealing: 'keychain' }).saveRegistration(testRegistration());
    await open().saveCredential(server, testCredential());
    expect(text()).not.toContain('as.example');
  });
});

describe('without a keychain', () => {
  it('a file is plain and says why, where nothing else was chosen (CL-13)', async () => {
    const { keychain, open } = setUp('auto');
    keychain.locked = true;
    const store = open();
    await store.saveCredential(server, testCredential());
    await store.saveRegistration(testRegistration());
    expect(await store.describe()).toMatchObject({ sealedWith: undefined, whyPlain: 'it is locked' });
    expect(await store.findCredential(server)).toEqual(testCredential());
  });

  it('nothing is written where it has to be sealed', async () => {
    const { keychain, open, text } = setUp('keychain');
    keychain.locked = true;
    await expect(open().saveCredential(server, testCredential())).rejects.toThrow(
      'Logins cannot be sealed, because it is locked. To keep them in plain text, readable by you only: --store plain',
    );
    expect(text).toThrow('ENOENT');
  });

  it('a sealed file is not opened, not overwritten, and not made plain', async () => {
    const { keychain, open, text } = setUp('auto');
    await open().saveCredential(server, testCredential());
    const before = text();
    keychain.locked = true;
    for (const work of [open().findCredential(server), open().saveRegistration(testRegistration())])
      await expect(work).rejects.toThrow('cannot be reached: it is locked');
    keychain.locked = false;
    keychain.keys.clear();
    await expect(open().saveRegistration(testRegistration())).rejects.toThrow('no longer has');
    expect(text()).toBe(before);
  });

  it('that is the right one, a file is not opened either', async () => {
    const { open } = setUp('auto');
    await open().saveCredential(server, testCredential());
    const other = { ...memoryKeychain(), kind: 'windows-dpapi' as const };
    await expect(open({ keychain: other }).findCredential(server)).rejects.toThrow('of another system');
  });

  it('and where the file was changed, it is damaged', async () => {
    const { folder, open, text } = setUp('auto');
    await open().saveCredential(server, testCredential());
    const box = JSON.parse(text());
    writeFileSync(tokenFilePath(folder), JSON.stringify({ ...box, sealed: `A${box.sealed}` }));
    await expect(open().findCredential(server)).rejects.toThrow('is damaged');
  });
});

describe('sealed text', () => {
  const key = randomBytes(32);
  const where = { keychain: 'secret-service', key: 'reference' } as const;

  describe('a sealed text', () => {
    it('shows nothing and is opened by its key only (A9-04)', () => {
      const box = sealText('very-secret ☃', key, where);
      expect(JSON.stringify(box)).not.toContain('very-secret');
      expect(openText(box, key)).toBe('very-secret ☃');
      expect(openText(box, randomBytes(32))).toBeUndefined();
      expect(sealText('very-secret ☃', key, where).sealed).not.toBe(box.sealed);
    });

    it.each([
      ['nonce', randomBytes(12).toString('base64url')],
      ['sealed', ''],
      ['sealed', randomBytes(64).toString('base64url')],
      ['key', 'another reference'],
      ['keychain', 'windows-dpapi'],
    ])('with another %s is not opened', (member, value) => {
      expect(openText({ ...sealText('x', key, where), [member]: value }, key)).toBeUndefined();
    });

    it('is read from a file, and other texts are none', () => {
      const box = sealText('x', key, where);
      expect(parseSealedText(JSON.stringify(box))).toEqual(box);
      for (const text of ['', '{', 'null', '{"version":1}', JSON.stringify({ ...box, keychain: 'pocket' })])
        expect(parseSealedText(text)).toBeUndefined();
    });
  });
});
