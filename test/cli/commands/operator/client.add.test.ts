import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../../../src/cli/cli-error.ts';
import { formatJson } from '../../../../src/cli/output.ts';
import { newInstallation, operate } from '../../support/installation.ts';

describe('gatehouse client add', () => {
  it('makes a client and shows its secret once (A5-03)', async () => {
    const data = await newInstallation();
    const uri = 'https://a.example/cb';
    const args = ['client', 'add', 'An app', '--redirect-uri', uri, '--redirect-uri', `${uri}/2`];
    const open = await operate([...args, '--data', data]);
    expect(open.stdout).toMatch(/^Client ID {6}client_[\w-]{24}\n$/);
    const closed = await operate([...args, '--auth-method', 'client_secret_basic', '--json', '--data', data]);
    const { clientId, clientSecret } = JSON.parse(closed.stdout) as Record<string, string>;
    expect(clientSecret).toMatch(/^secret_/);
    const shown = await operate(['client', 'show', String(clientId), '--json', '--data', data]);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      kind: 'operator',
      name: 'An app',
      redirectUris: [uri, `${uri}/2`],
    });
    expect(shown.stdout).not.toContain(clientSecret);
  });

  it('makes a client that acts for itself, with its key and scopes', async () => {
    const data = await newInstallation();
    const { publicKey } = await generateKeyPair('ES256');
    const file = join(data, 'jwks.json');
    writeFileSync(
      file,
      JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }] }),
    );
    const options = [
      '--auth-method',
      'private_key_jwt',
      '--jwks-file',
      file,
      '--grant-type',
      'client_credentials',
    ];
    const args = ['client', 'add', 'A robot', '--client-id', 'robot', '--scope', 'notes:read', ...options];
    expect((await operate([...args, '--json', '--data', data])).stdout).toBe(
      formatJson({ clientId: 'robot' }),
    );
    await expect(operate([...args, '--data', data])).rejects.toThrow(
      'There is a client with this id already.',
    );
  });

  it('says where the settings let no client act for itself', async () => {
    const data = await newInstallation();
    const config = join(data, 'gatehouse.json');
    writeFileSync(config, JSON.stringify({ clients: { clientCredentials: true } }));
    const way = ['--auth-method', 'client_secret_basic', '--grant-type', 'client_credentials'];
    const args = ['client', 'add', 'A robot', '--scope', 'notes:read', ...way, '--data', data];
    expect((await operate(args)).stderr).toContain('until clients.clientCredentials is true');
    expect((await operate([...args, '--config', config])).stderr).not.toContain('clientCredentials');
  });

  it('says every problem of what was given', async () => {
    const data = await newInstallation();
    const bad = [
      'client',
      'add',
      'An app',
      '--redirect-uri',
      'javascript:x',
      '--client-id',
      '-',
      '--data',
      data,
    ];
    await expect(operate(bad)).rejects.toMatchObject({
      exitCode: exitCodes.usage,
      message: expect.stringMatching(
        /^--client-id: must have[\s\S]*\n--redirect-uri \(number 1\): is refused/,
      ),
    });
    await expect(operate(['client', 'add', 'x', '--jwks-file', '/nowhere', '--data', data])).rejects.toThrow(
      'cannot be read as JSON',
    );
  });
});
