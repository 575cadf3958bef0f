import { describe, expect, it } from 'vitest';
import { openLogins, requireLogin } from '../../../../src/cli/commands/mcp-client/stored-login.ts';
import { createTokenFile } from '../../../../src/client/node/index.ts';
import { testCredential } from '../../../client/support/credentials.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { runGatehouse } from '../../../support/served.ts';
import { testIo } from '../../support/client-commands.ts';

describe('the logins of a user', () => {
  it('are not opened where GATEHOUSE_STORE names no way to keep them, unless one is chosen', () => {
    const { io } = testIo({ env: { GATEHOUSE_STORE: 'pocket' } });
    expect(() => openLogins(io)).toThrow(expect.objectContaining({ name: 'CliError', exitCode: 2 }));
    expect(() => openLogins(io, 'plain')).not.toThrow();
  });

  it.each([
    ['whoami'],
    ['tools', 'http://127.0.0.1:9/mcp'],
    ['connect', 'http://127.0.0.1:9/mcp'],
    ['doctor', 'http://127.0.0.1:9/mcp'],
  ])('which `gatehouse %s` says with exit code 2', async (...args) => {
    const { code, stderr } = await runGatehouse(args, { env: { GATEHOUSE_STORE: 'pocket' } });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'GATEHOUSE_STORE has to be one of auto, keychain, plain.\n',
    });
  });
});

describe('the login that is kept for a server', () => {
  it('is found however its URL is written', async () => {
    const store = createTokenFile(testFolder());
    await store.saveCredential('https://mcp.example', testCredential());
    for (const url of ['https://mcp.example', 'https://MCP.example:443/'])
      expect(await requireLogin(store, url)).toEqual({
        server: 'https://mcp.example',
        credential: testCredential(),
      });
  });

  it('is missed where there is none or it has ended, which is told with what was chosen at it, and never looked for at what is no URL', async () => {
    const store = createTokenFile(testFolder());
    await expect(requireLogin(store, 'https://mcp.example')).rejects.toMatchObject({
      reason: 'login_required',
    });
    const ended = testCredential({ withoutResource: true });
    await store.saveCredential('https://mcp.example', ended);
    await store.endCredential(ended);
    await expect(requireLogin(store, 'https://MCP.example/')).rejects.toMatchObject({
      reason: 'login_required',
      before: { chosen: { withoutResource: true } },
    });
    await expect(requireLogin(store, 'mcp.example')).rejects.toMatchObject({ exitCode: 2 });
  });
});
