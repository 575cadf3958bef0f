// Disks that are full, read-only, failing or gone (flows of src/storage/sqlite/connection/writer.ts, still-there.ts and src/app/readiness.ts).
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testFolder } from '../../client/support/folder.ts';
import { obtainTokens, refresh, register, type Tokens, tryAccess } from '../../support/oauth.ts';
import { runExecutable } from '../../support/program.ts';
import { expectIntact } from '../crash/served.ts';
import { expectTokens } from '../token/subject.ts';
import {
  isInstalled,
  mayMount,
  serveCommand,
  startOnSmallDisk,
  startServer,
  waitForStatus,
} from './support/faulty-machine.ts';

const statusOf = async (url: string): Promise<number> => {
  const response = await fetch(url);
  await response.body?.cancel();
  return response.status;
};

/** What the token endpoint says while nothing can be written. */
async function expectUnavailable(response: Response): Promise<void> {
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).not.toBeNull();
  expect(await response.json()).toMatchObject({ error: 'temporarily_unavailable' });
}

async function refreshed(url: string, login: { clientId: string; tokens: Tokens }): Promise<Tokens> {
  return (await expectTokens(await refresh(url, login.clientId, login.tokens.refresh_token))) as Tokens;
}

describe.skipIf(!mayMount)('a disk', () => {
  it('that is full has writes refused with 503 and nothing half done; reads go on, and all works again when there is room (T-169)', async () => {
    const { url, mcpUrl, program, run, data } = await startOnSmallDisk(testFolder(), 8);
    onTestFinished(() => program.stop());
    const login = await obtainTokens({ url, mcpUrl });
    run(`head -c 16M /dev/zero > "${data}/filler"; true`);

    await expectUnavailable(await refresh(url, login.clientId, login.tokens.refresh_token));
    await expect(register(url)).rejects.toThrow(/503/);
    expect(await statusOf(`${url}/healthz`)).toBe(200);
    expect(await waitForStatus(() => statusOf(`${url}/readyz`), 503, 6000)).toBeLessThan(6000);
    expect(await statusOf(`${url}/.well-known/oauth-authorization-server`)).toBe(200);

    run(`rm "${data}/filler"`);
    expect(await waitForStatus(() => statusOf(`${url}/readyz`), 200, 5000)).toBeLessThan(5000);
    const tokens = await refreshed(url, login);
    expect(await tryAccess(mcpUrl, tokens.access_token)).toBe(200);
    await obtainTokens({ url, mcpUrl });
  });
});

describe.skipIf(!isInstalled('strace'))('a disk', () => {
  it.each([
    ['that fails to make writes durable', 'fsync,fdatasync', 'EIO'],
    ['that fails to take writes', 'pwrite64', 'EIO'],
    ['that turns read-only', 'pwrite64', 'EROFS'],
  ])(
    '%s has no success answered, and all works again when it recovers (T-170)',
    async (_fault, calls, error) => {
      const data = join(testFolder(), 'data');
      const { url, mcpUrl, program } = await startServer(serveCommand(data));
      onTestFinished(() => program.stop());
      const login = await obtainTokens({ url, mcpUrl });
      const strace = runExecutable('strace', [
        '-f',
        '-p',
        String(program.process.pid),
        '-e',
        `trace=${calls}`,
        '-e',
        `inject=${calls}:error=${error}`,
        '-o',
        '/dev/null',
      ]);
      onTestFinished(() => strace.stop());
      await strace.waitFor('stderr', /attached/);
      await expectUnavailable(await refresh(url, login.clientId, login.tokens.refresh_token));
      await expect(register(url)).rejects.toThrow(/503/);
      expect(await waitForStatus(() => statusOf(`${url}/readyz`), 503, 6000)).toBeLessThan(6000);
      expect(await statusOf(`${url}/healthz`)).toBe(200);
      await strace.stop();
      expect(await waitForStatus(() => statusOf(`${url}/readyz`), 200, 5000)).toBeLessThan(5000);
      const tokens = await refreshed(url, login);
      await program.stop();
      expectIntact(data);
      const again = await startServer(serveCommand(data, Number(new URL(url).port)));
      onTestFinished(() => again.program.stop());
      expect(await tryAccess(mcpUrl, tokens.access_token)).toBe(200);
    },
  );
});

describe('a database file', () => {
  it('that is taken away has nothing acknowledged any more, and all works again when it is put back (T-170)', async () => {
    const data = join(testFolder(), 'data');
    const { url, mcpUrl, program } = await startServer(serveCommand(data));
    onTestFinished(() => program.stop());
    const login = await obtainTokens({ url, mcpUrl });
    const file = join(data, 'gatehouse.db');
    renameSync(file, `${file}.away`);
    await expectUnavailable(await refresh(url, login.clientId, login.tokens.refresh_token));
    expect(await statusOf(`${url}/healthz`)).toBe(503);
    expect(existsSync(file)).toBe(false);
    renameSync(`${file}.away`, file);
    expect(await waitForStatus(() => statusOf(`${url}/readyz`), 200, 5000)).toBeLessThan(5000);
    await refreshed(url, login);
  });
});

describe('a process that may open few files', () => {
  it('lives on when all are in use, and serves again when they are not (T-170)', async () => {
    const data = join(testFolder(), 'data');
    const { url, mcpUrl, program } = await startServer([
      'sh',
      '-c',
      'ulimit -n 64; exec "$@"',
      'sh',
      ...serveCommand(data),
    ]);
    onTestFinished(() => program.stop());
    const login = await obtainTokens({ url, mcpUrl });
    const { connect } = await import('node:net');
    const sockets = Array.from({ length: 100 }, () => connect(Number(new URL(url).port), 'localhost'));
    for (const socket of sockets) socket.on('error', () => undefined);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(program.process.exitCode).toBeNull();
    for (const socket of sockets) socket.destroy();
    expect(await waitForStatus(() => statusOf(`${url}/readyz`), 200, 5000)).toBeLessThan(5000);
    await refreshed(url, login);
  });
});
