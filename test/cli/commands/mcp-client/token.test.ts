import { describe, expect, it } from 'vitest';
import { runToken } from '../../../../src/cli/commands/mcp-client/token.ts';
import { testCredential } from '../../../client/support/credentials.ts';
import { startLoggedIn, testIo } from '../../support/client-commands.ts';

describe('gatehouse token', () => {
  it('prints the token alone, or as a header, for another program', async () => {
    const { mcp, io, written } = await startLoggedIn();
    await runToken(mcp.url, {}, io);
    await runToken(mcp.url, { header: true }, io);
    expect(written).toEqual({ stdout: 'at\nAuthorization: Bearer at\n', stderr: '' });
  });

  it('renews it before where it ends soon (A9-05)', async () => {
    const { as, mcp, store, io, written } = await startLoggedIn();
    as.refreshTokens.add('rt');
    await store.saveCredential(
      mcp.url,
      testCredential({ issuer: as.origin, resource: mcp.url, expiresAt: io.now() + 5 }),
    );
    await runToken(mcp.url, {}, io);
    expect(as.accessTokens.has(written.stdout.trim())).toBe(true);
    expect(written.stdout).not.toBe('at\n');
  });

  it('does not print it on a terminal, unless that is asked for (T-191)', async () => {
    const { mcp, io, written } = await startLoggedIn();
    const stdout = Object.assign(io.stdout, { isTTY: true });
    await expect(runToken(mcp.url, {}, { ...io, stdout })).rejects.toMatchObject({
      exitCode: 2,
      hint: expect.stringContaining('--show'),
    });
    await expect(runToken('https://x/mcp?a=1&b=2', {}, { ...io, stdout })).rejects.toMatchObject({
      hint: expect.stringContaining("token 'https://x/mcp?a=1&b=2' --header"),
    });
    expect(written.stdout).toBe('');
    await runToken(mcp.url, { show: true }, { ...io, stdout });
    expect(written.stdout).toBe('at\n');
  });

  it('does not print one that is bound to a key: it is worthless to others (A13-09)', async () => {
    const { as, mcp, store, io, written } = await startLoggedIn();
    const bound = { issuer: as.origin, resource: mcp.url, dpopKey: { kty: 'EC' } };
    await store.saveCredential(mcp.url, testCredential(bound));
    await expect(runToken(mcp.url, {}, io)).rejects.toMatchObject({
      exitCode: 2,
      hint: expect.stringContaining(`connect ${mcp.url}`),
    });
    expect(written.stdout).toBe('');
  });

  it('ends with exit code 3 without a login', async () => {
    await expect(runToken('https://mcp.example/mcp', {}, testIo().io)).rejects.toMatchObject({
      exitCode: 3,
      hint: expect.stringContaining('login https://mcp.example/mcp'),
    });
  });
});
