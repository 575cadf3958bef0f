import { describe, expect, it } from 'vitest';
import { runLogout } from '../../../../src/cli/commands/mcp-client/logout.ts';
import { formatJson } from '../../../../src/cli/output.ts';
import { createTokenFile } from '../../../../src/client/node/index.ts';
import { testCredential, testRegistration } from '../../../client/support/credentials.ts';
import { startLoggedIn, testIo } from '../../support/client-commands.ts';

async function setUp() {
  const set = await startLoggedIn();
  set.as.refreshTokens.add('rt');
  await set.store.saveCredential(
    set.mcp.url,
    testCredential({ issuer: set.as.origin, resource: set.mcp.url }),
  );
  return set;
}

describe('gatehouse logout', () => {
  it('ends the login at its authorization server and forgets it, not its client', async () => {
    const { as, mcp, store, io, written } = await setUp();
    await runLogout(mcp.url, {}, io);
    expect([as.refreshTokens.size, await store.findCredential(mcp.url)]).toEqual([0, undefined]);
    expect(await store.findRegistration(as.origin)).toBeDefined();
    expect(written).toEqual({ stdout: '', stderr: `Logged out of ${mcp.url}\n` });
  });

  it('--all ends every login and forgets the clients as well', async () => {
    const { as, store, io, written } = await setUp();
    const other = testCredential({ issuer: as.origin, resource: 'https://b.example' });
    await store.saveCredential('https://b.example', other);
    await runLogout(undefined, { all: true, json: true }, io);
    expect([await store.listLogins(), await store.findRegistration(as.origin)]).toEqual([[], undefined]);
    expect(JSON.parse(written.stdout)).toEqual({
      loggedOut: [expect.anything(), expect.anything()],
      forgottenLogins: [],
      forgottenClients: [{ issuer: as.origin, clientId: 'client' }],
    });
    await runLogout(undefined, { all: true }, io);
    expect(written.stderr).toContain('There is no login to end.');
  });

  it('--all forgets clients without a login as well, such as one that was denied, and says which', async () => {
    const { io, home, written } = testIo();
    const store = createTokenFile(home);
    await store.saveRegistration(testRegistration({ issuer: 'https://as.example', clientId: 'denied' }));
    await runLogout(undefined, { all: true }, io);
    expect(await store.listRegistrations()).toEqual([]);
    expect(written).toEqual({ stdout: '', stderr: 'Forgot the client denied of https://as.example\n' });
    written.stderr = '';
    await runLogout(undefined, { all: true }, io);
    expect(written).toEqual({ stdout: '', stderr: 'There is no login to end.\n' });
  });

  it('--all keeps the client of a login that cannot be ended now', async () => {
    const { as, store, io, written } = await setUp();
    as.routes['POST /revoke'] = { raw: (response) => void response.destroy() };
    await expect(runLogout(undefined, { all: true, json: true }, io)).rejects.toMatchObject({ exitCode: 6 });
    expect(await store.findRegistration(as.origin)).toBeDefined();
    expect(JSON.parse(written.stdout)).toEqual({ loggedOut: [], forgottenLogins: [], forgottenClients: [] });
  });

  it('--local forgets only, and says so', async () => {
    const { as, mcp, store, io, written } = await setUp();
    await runLogout(mcp.url, { local: true }, io);
    expect(await store.findCredential(mcp.url)).toBeUndefined();
    expect(as.requests).toEqual([]);
    expect(written.stderr).toContain('only here: you asked for it');
  });

  it('keeps a login that cannot be ended now', async () => {
    const { as, mcp, store, io, written } = await setUp();
    as.routes['POST /revoke'] = { raw: (response) => void response.destroy() };
    await expect(runLogout(mcp.url, { json: true }, io)).rejects.toMatchObject({
      exitCode: 6,
      message: expect.stringContaining('The login is still kept.'),
      hint: expect.stringContaining('--local'),
    });
    expect(await store.findCredential(mcp.url)).toBeDefined();
    expect(JSON.parse(written.stdout)).toEqual({ loggedOut: [], forgottenLogins: [], forgottenClients: [] });
  });

  it('of a server one is not logged in to has nothing to do, however often, and that is no failure', async () => {
    const { as, mcp, io, written } = await setUp();
    await runLogout(mcp.url, {}, io);
    const { length } = as.requests;
    written.stderr = '';
    await runLogout(mcp.url, { json: true }, io);
    expect(written).toEqual({
      stdout: formatJson({ loggedOut: [], forgottenLogins: [], forgottenClients: [] }),
      stderr: 'There is no login to end.\n',
    });
    expect(as.requests).toHaveLength(length);
  });

  it('forgets what a login was like that has ended: of that server, or of all', async () => {
    const { io, home, written } = testIo();
    const store = createTokenFile(home);
    const servers = ['https://a.example', 'https://b.example', 'https://c.example'];
    for (const server of servers) await store.saveCredential(server, testCredential());
    await store.endCredential(testCredential());
    const known = async () => {
      const found = await Promise.all(servers.map((server) => store.findFormerLogin(server)));
      return servers.filter((_, at) => found[at] !== undefined);
    };
    await runLogout('https://A.example/', {}, io);
    expect(await known()).toEqual(servers.slice(1));
    expect(written.stderr).toBe('Forgot what the login to https://a.example was like, which had ended\n');
    await runLogout(undefined, { all: true }, io);
    expect(await known()).toEqual([]);
  });

  it.each([
    ['neither a server nor --all', undefined, {}, 2],
    ['both', 'https://mcp.example', { all: true }, 2],
    ['what is no URL', 'nonsense', {}, 2],
  ])('with %s ends with exit code %#', async (_, url, options, exitCode) => {
    await expect(runLogout(url, options, testIo().io)).rejects.toMatchObject({ exitCode });
  });
});
