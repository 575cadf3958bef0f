// A clock that is wrong at a start (flows of src/cli/commands/server/serve.ts and src/authorization-server/engine/adapter.ts).
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testFolder } from '../../client/support/folder.ts';
import { obtainTokens, redeem, refresh, tryAccess } from '../../support/oauth.ts';
import { expectIntact } from '../crash/served.ts';
import { expectRefused, obtainCode } from '../token/subject.ts';
import { isInstalled, serveCommand, startServer } from './support/faulty-machine.ts';

/** Starts the server on a machine whose clock is wrong by so much; timers run as they do. The command would be in the way of signals. */
function startAt(offset: string, data: string, port: number) {
  const library = execFileSync('faketime', ['-f', offset, 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' });
  return startServer(serveCommand(data, port), {
    LD_PRELOAD: library.trim(),
    FAKETIME: offset,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  });
}

describe.skipIf(!isInstalled('faketime'))('a server that is started again with its clock', () => {
  it.each([
    ['an hour back', '-1h'],
    ['a day back', '-1d'],
    ['two hours ahead', '+2h'],
    ['ten years ahead', '+10y'],
  ])('%s lives on, and takes nothing that was used up or has expired (T-176)', async (_what, offset) => {
    const data = join(testFolder(), 'data');
    const right = await startServer(serveCommand(data));
    const port = Number(new URL(right.url).port);
    const login = await obtainTokens(right);
    const { flow, code } = await obtainCode(right as unknown as Parameters<typeof obtainCode>[0]);
    expect((await redeem(right.url, flow, code)).status).toBe(200);
    expect((await refresh(right.url, login.clientId, login.tokens.refresh_token)).status).toBe(200);
    await right.program.stop();

    const wrong = await startAt(offset, data, port);
    onTestFinished(() => wrong.program.stop());
    expect((await fetch(`${wrong.url}/readyz`)).status).toBe(200);
    await expectRefused(await redeem(wrong.url, flow, code), 'invalid_grant');
    await expectRefused(
      await refresh(wrong.url, login.clientId, login.tokens.refresh_token),
      'invalid_grant',
    );
    expect(await tryAccess(wrong.mcpUrl, login.tokens.access_token)).toBe(401);
    // A clock behind the browser's makes cookies that have expired already: nobody logs in there.
    if (offset.startsWith('+')) {
      const { tokens } = await obtainTokens(wrong);
      expect(tokens.expires_in).toBeGreaterThan(0);
      expect(await tryAccess(wrong.mcpUrl, tokens.access_token)).toBe(200);
    }
    expect(wrong.program.process.exitCode).toBeNull();
    await wrong.program.stop();
    expectIntact(data);
  });
});
