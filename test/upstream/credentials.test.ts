import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCredentials } from '../../src/upstream/credentials.ts';
import { testFolder } from '../client/support/folder.ts';

function fileWith(text: string): string {
  const file = join(testFolder(), 'proof');
  writeFileSync(file, text);
  return file;
}

describe('what this server proves itself with at an upstream', () => {
  it('is a secret of the settings, or of a file', async () => {
    expect(await readCredentials({ clientId: 'c', clientSecret: 's' }, {})).toEqual({
      identity: { clientId: 'c', clientSecret: 's' },
    });
    expect(await readCredentials({ clientId: 'c', clientSecretFile: fileWith('s\n') }, {})).toEqual({
      identity: { clientId: 'c', clientSecret: 's' },
    });
  });

  it('is the value of a variable of the environment, which has to be set, and is never shown (T-093)', async () => {
    const given = { clientId: 'c', clientSecret: { env: 'WORK_SECRET' } };
    expect(await readCredentials(given, { WORK_SECRET: 'canary' })).toEqual({
      identity: { clientId: 'c', clientSecret: 'canary' },
    });
    expect(await readCredentials(given, { WORK_SECRET: 'canary\r\n' })).toEqual({
      identity: { clientId: 'c', clientSecret: 'canary' },
    });
    for (const environment of [{}, { WORK_SECRET: '' }, { WORK_SECRET: ' \n' }, { WORK_SECRETS: 'canary' }])
      expect(await readCredentials(given, environment)).toEqual({
        problem: 'clientSecret: the environment has no WORK_SECRET: set it',
      });
    const inherited = { clientId: 'c', clientSecret: { env: 'constructor' } };
    expect(await readCredentials(inherited, {})).toHaveProperty('problem');
  });

  it('is a key of a file, PEM or JWK (A13-02)', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const jwk = JSON.stringify({ ...privateKey.export({ format: 'jwk' }), kid: 'k1' });
    expect(await readCredentials({ clientId: 'c', clientKeyFile: fileWith(pem) }, {})).toMatchObject({
      identity: { privateKey: { alg: 'ES256' }, tokenEndpointAuthMethod: 'private_key_jwt' },
    });
    expect(await readCredentials({ clientId: 'c', clientKeyFile: fileWith(jwk) }, {})).toMatchObject({
      identity: { privateKey: { kid: 'k1' } },
    });
  });

  it('is named by its setting where it cannot be read, and never shown (T-093)', async () => {
    const missing = join(testFolder(), 'none');
    expect(await readCredentials({ clientId: 'c', clientSecretFile: missing }, {})).toEqual({
      problem: `clientSecretFile: ${missing} cannot be read (ENOENT)`,
    });
    expect(await readCredentials({ clientId: 'c', clientSecretFile: fileWith(' \n') }, {})).toMatchObject({
      problem: expect.stringMatching(/is empty$/),
    });
    const refused = await readCredentials({ clientId: 'c', clientKeyFile: fileWith('canary') }, {});
    expect(refused).toMatchObject({ problem: expect.stringMatching(/^clientKeyFile: .*neither PEM/) });
    expect(JSON.stringify(refused)).not.toContain('canary');
  });
});
