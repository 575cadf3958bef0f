import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readGivenClient, readSecretFile } from '../../../../src/cli/commands/mcp-client/login-secrets.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { testIo } from '../../support/client-commands.ts';

function fileWith(content: string): string {
  const file = join(testFolder(), 'secret');
  writeFileSync(file, content);
  return file;
}

describe('a client registered beforehand (A5-11)', () => {
  it('has its secret from standard input or a file, never from an argument (T-191)', async () => {
    const { io } = testIo({ input: 'very-secret\n' });
    const expected = { clientId: 'a', clientSecret: 'very-secret' };
    expect(await readGivenClient({ clientId: 'a', clientSecretStdin: true }, io)).toEqual(expected);
    const clientSecretFile = fileWith('very-secret\r\n');
    expect(await readGivenClient({ clientId: 'a', clientSecretFile }, io)).toEqual(expected);
  });

  it('has its private key from a file (A13-02)', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const file = fileWith(String(privateKey.export({ type: 'pkcs8', format: 'pem' })));
    const client = await readGivenClient({ clientId: 'a', privateKey: file }, testIo().io);
    expect(client).toMatchObject({ clientId: 'a', privateKey: { kty: 'EC', alg: 'ES256' } });
  });

  it('may be public, or not there', async () => {
    const { io } = testIo();
    expect(await readGivenClient({ clientId: 'a' }, io)).toEqual({ clientId: 'a' });
    expect(await readGivenClient({}, io)).toBeUndefined();
  });

  it.each([
    ['a secret without a client', { clientSecretStdin: true }, '--client-secret-stdin needs --client-id'],
    ['a key without a client', { privateKey: 'x' }, '--private-key needs --client-id'],
    [
      'two secrets',
      { clientId: 'a', clientSecretStdin: true, clientSecretFile: 'x' },
      'One of --client-secret-stdin and --client-secret-file is enough',
    ],
    ['a file that is not there', { clientId: 'a', clientSecretFile: '/nowhere/x' }, 'cannot be read: ENOENT'],
  ])('is wrong usage with %s', async (_, options, message) => {
    await expect(readGivenClient(options, testIo().io)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(message),
    });
  });

  it('has no empty secret and no endless one', async () => {
    await expect(readSecretFile(fileWith('\n'), 'the secret')).rejects.toThrow('the secret is empty');
    await expect(readSecretFile(fileWith('x'.repeat(20_000)), 'the secret')).rejects.toThrow('too long');
  });
});
