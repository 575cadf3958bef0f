import { describe, expect, it } from 'vitest';
import { requireLogin } from '../../../src/cli/commands/kept-login.ts';
import { createTokenFile } from '../../../src/client/node/index.ts';
import { testCredential } from '../../client/support/credentials.ts';
import { testFolder } from '../../client/support/folder.ts';

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
