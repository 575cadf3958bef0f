// Examinations as configured: examine-upstream.test.ts beside.

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../../src/options.ts';
import {
  checkSecretFile,
  examineConfigured,
  findUnusable,
  listConfigured,
} from '../../../src/upstream/examination/configured.ts';
import { testFolder } from '../../client/support/folder.ts';

const publicUrl = 'http://localhost:3000';

describe('the list of configured upstreams', () => {
  it('has their names, labels, issuers and callback URLs, with what presets know, and no secret', () => {
    const { upstreams } = parseSettings({
      upstreams: {
        google: { preset: 'google', clientId: 'id', clientSecret: 'canary' },
        own: { issuer: 'https://login.example.com', clientId: 'id', clientSecret: 'canary', login: false },
      },
    });
    const listed = listConfigured({ upstreams, publicUrl });
    expect(listed).toEqual([
      {
        name: 'google',
        label: 'Google',
        issuer: 'https://accounts.google.com',
        use: 'login',
        callbackUrl: `${publicUrl}/upstream/google/callback`,
      },
      {
        name: 'own',
        label: 'own',
        issuer: 'https://login.example.com',
        use: 'linking',
        callbackUrl: `${publicUrl}/upstream/own/callback`,
      },
    ]);
  });
});

describe('the examination of a configured upstream', () => {
  it('is none for a name that is not there, whatever objects have by themselves', async () => {
    for (const name of ['nothing', 'constructor', '__proto__'])
      expect(
        await examineConfigured({ upstreams: {}, publicUrl, dangerouslyFromLoopback: false }, name, {
          fetch,
          now: () => 0,
          env: {},
        }),
      ).toBeUndefined();
  });
});

describe('what the settings of upstreams name', () => {
  it('is read without asking them: a file or variable that is not there keeps the server from starting', async () => {
    const entry = { issuer: 'https://no-such-host.invalid', clientId: 'id' };
    const { upstreams } = parseSettings({
      upstreams: {
        sound: { ...entry, clientSecret: 'canary' },
        broken: { ...entry, clientSecretFile: '/no/such/file' },
        unset: { ...entry, clientSecret: { env: 'UNSET_SECRET' } },
      },
    });
    const problems = await findUnusable(
      { upstreams, publicUrl, dangerouslyFromLoopback: false },
      { now: () => 0, env: {} },
    );
    expect(problems).toEqual([
      expect.stringMatching(/^upstreams\.broken\.clientSecretFile: .* cannot be read/),
      'upstreams.unset.clientSecret: the environment has no UNSET_SECRET: set it',
    ]);
  });

  it('is refused, too, where the people of one would be taken for those of another (T-089)', async () => {
    const at = (path: string) => ({
      ...{ clientId: 'c', clientSecret: 's', userInfo: { subject: 'id' } },
      authorizationEndpoint: `https://git.example/${path}/authorize`,
      tokenEndpoint: `https://git.example/${path}/token`,
      userInfoEndpoint: `https://git.example/${path}/user`,
    });
    const { upstreams } = parseSettings({ upstreams: { one: at('a'), two: at('b') } });
    const problems = await findUnusable(
      { upstreams, publicUrl, dangerouslyFromLoopback: false },
      { now: () => 0, env: {} },
    );
    expect(problems).toEqual([expect.stringMatching(/^upstreams\.two: its people and those of one /)]);
  });
});

describe('secret file check', () => {
  /** A file of a mode in octal. */
  function fileOf(mode: string): string {
    const file = join(testFolder(), 'a secret');
    writeFileSync(file, 'canary');
    chmodSync(file, Number.parseInt(mode, 8));
    return file;
  }

  it.each(['600', '400', '640'])(
    'a file of mode %s is its owner’s, or of the group its owner gave it to',
    (mode) => {
      expect(checkSecretFile({ clientSecretFile: fileOf(mode) })).toMatchObject([
        { id: 'UP-SECRET', verdict: 'pass' },
      ]);
    },
  );

  it.each(['644', '604', '666'])('a file of mode %s is told, with what to do (T-163)', (mode) => {
    const file = fileOf(mode);
    for (const settings of [{ clientSecretFile: file }, { clientKeyFile: file }])
      expect(checkSecretFile(settings)).toEqual([
        {
          id: 'UP-SECRET',
          verdict: 'warn',
          saw: `${file} can be read by others (mode ${mode}).`,
          fix: `chmod 600 ${JSON.stringify(file)}`,
        },
      ]);
  });

  it('nothing is said of a secret that stands in the settings', () => {
    expect(checkSecretFile({})).toEqual([]);
  });
});
