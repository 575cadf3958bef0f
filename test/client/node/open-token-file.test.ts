import { describe, expect, it } from 'vitest';
import { openTokenFile, tokenFilePath } from '../../../src/client/node/index.ts';
import { testRegistration } from '../support/credentials.ts';
import { testFolder } from '../support/folder.ts';

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
