import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readInvitation } from '../../../../src/cli/commands/mcp-client/login-secrets.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { testIo } from '../../support/client-commands.ts';

const token = 'invitation_a-b.c~d';

function fileWith(content: string): string {
  const file = join(testFolder(), 'invitation');
  writeFileSync(file, content);
  return file;
}

describe('an initial access token', () => {
  it('comes from a file or from standard input, never from an argument (T-191)', async () => {
    const initialAccessTokenFile = fileWith(`${token}\n`);
    expect(await readInvitation({ initialAccessTokenFile }, testIo().io)).toBe(token);
    const { io } = testIo({ input: `${token}\n` });
    expect(await readInvitation({ initialAccessTokenFile: '-' }, io)).toBe(token);
    expect(await readInvitation({}, testIo().io)).toBeUndefined();
  });

  it.each([
    ['with a client that is registered already', { initialAccessTokenFile: '-', clientId: 'a' }],
    ['with a machine’s grant', { initialAccessTokenFile: '-', grant: 'client_credentials' }],
    ['on a standard input that holds the pasted address', { initialAccessTokenFile: '-', paste: true }],
    ['from a file that is not there', { initialAccessTokenFile: '/nowhere/x' }],
    ['that is empty', { initialAccessTokenFile: '-' }],
  ] as const)('%s is wrong usage', async (what, options) => {
    const { io } = testIo({ input: what === 'that is empty' ? '' : token });
    await expect(readInvitation(options, io)).rejects.toMatchObject({ exitCode: 2 });
  });

  it('that is missing on standard input is called so', async () => {
    const refusal = readInvitation({ initialAccessTokenFile: '-' }, testIo({ input: '\n' }).io);
    await expect(refusal).rejects.toThrow('Standard input does not hold the initial access token.');
  });

  it('that no header can hold is refused, and not repeated', async () => {
    const initialAccessTokenFile = fileWith('secret\nX-Header: more');
    const refusal = readInvitation({ initialAccessTokenFile }, testIo().io);
    await expect(refusal).rejects.toMatchObject({ exitCode: 2 });
    await expect(refusal).rejects.not.toThrow(/secret|X-Header/);
  });
});
