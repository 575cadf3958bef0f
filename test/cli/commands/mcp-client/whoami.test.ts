import { describe, expect, it } from 'vitest';
import { runWhoami } from '../../../../src/cli/commands/mcp-client/whoami.ts';
import { testCredential } from '../../../client/support/credentials.ts';
import { startLoggedIn, testIo } from '../../support/client-commands.ts';

describe('gatehouse whoami', () => {
  it('shows every login without asking anybody', async () => {
    const { as, mcp, io, written } = await startLoggedIn();
    await runWhoami(undefined, {}, io);
    expect(written.stdout.split('\n')[1]).toMatch(new RegExp(`^${mcp.url} +${as.origin} +read +in 60 min$`));
    expect([...as.requests, ...mcp.requests]).toEqual([]);
  });

  it('shows one login', async () => {
    const { as, mcp, io, written } = await startLoggedIn();
    await runWhoami(mcp.url, {}, io);
    expect(written.stdout).toContain(`Authorization server  ${as.origin}\n`);
  });

  it('prints one JSON object, for one login and for all', async () => {
    const { mcp, io, written } = await startLoggedIn();
    await runWhoami(mcp.url, { json: true }, io);
    expect(JSON.parse(written.stdout)).toMatchObject({ server: mcp.url, client: 'client' });
    written.stdout = '';
    await runWhoami(undefined, { json: true }, io);
    expect(JSON.parse(written.stdout)).toMatchObject({ logins: [{ server: mcp.url }] });
  });

  it('tries them where that is asked for', async () => {
    const { as, mcp, store, io, written } = await startLoggedIn();
    await runWhoami(mcp.url, { check: true, json: true }, io);
    expect(JSON.parse(written.stdout)).toMatchObject({ works: true });
    const other = testCredential({ issuer: as.origin, resource: 'http://127.0.0.1:9/mcp' });
    await store.saveCredential('http://127.0.0.1:9/mcp', other);
    written.stdout = '';
    await expect(runWhoami(undefined, { check: true }, io)).rejects.toMatchObject({
      exitCode: 6,
      message: '1 of 2 logins do not work.',
    });
    expect(written.stdout).toMatch(/ works\n/);
    as.accessTokens.clear();
    await expect(runWhoami(mcp.url, { check: true }, io)).rejects.toMatchObject({ exitCode: 3 });
  });

  it('waits for a server as long as it is told to', async () => {
    const { mcp, io } = await startLoggedIn();
    const silent = { ...io, fetch: () => new Promise<Response>(() => undefined) };
    await expect(runWhoami(mcp.url, { check: true, timeout: 0.2 }, silent)).rejects.toMatchObject({
      exitCode: 6,
      message: 'The server did not answer within 0.2 s.',
    });
  });

  it.each([{}, { check: true }])(
    'ends with exit code 3 where there is none, also as JSON: %j',
    async (options) => {
      const { io, written } = testIo();
      const refusal = {
        exitCode: 3,
        message: 'There is no login.',
        hint: expect.stringMatching(/login <url>$/),
      };
      await expect(runWhoami(undefined, options, io)).rejects.toMatchObject(refusal);
      expect(written).toEqual({ stdout: '', stderr: '' });
      await expect(runWhoami(undefined, { ...options, json: true }, io)).rejects.toMatchObject(refusal);
      expect(JSON.parse(written.stdout)).toEqual({ logins: [] });
    },
  );

  it('ends with exit code 3 where there is none of the server it is asked about', async () => {
    const { io } = await startLoggedIn();
    await expect(runWhoami('https://mcp.example', {}, io)).rejects.toMatchObject({ exitCode: 3 });
  });
});
