// Over src/client/node/preflight.ts: what the command line says where clients are not simply admitted.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { testFolder } from '../../client/support/folder.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { runGatehouse } from '../../support/served.ts';

let gatehouse: RunningGatehouse;
afterEach(() => gatehouse.stop());

describe('gatehouse login at a server', () => {
  it.each([
    ['approval', 3, /has to approve|waits for/],
    ['initial_access_token', 6, /initial access token/],
    ['off', 6, /client/],
  ] as const)(
    'whose registration is %s ends at once, and says what to do',
    async (registration, exitCode, says) => {
      gatehouse = await startGatehouse({ clients: { registration } });
      const begun = performance.now();
      const { code, stderr } = await runGatehouse(['login', gatehouse.mcpUrl, '--no-browser']);
      expect([code, stderr]).toEqual([exitCode, expect.stringMatching(says)]);
      expect(performance.now() - begun).toBeLessThan(20_000);
    },
  );

  it('registers with an initial access token from a file or standard input, which is shown nowhere (A5-02, T-191)', async () => {
    gatehouse = await startGatehouse({ clients: { registration: 'initial_access_token' } });
    const { token } = await gatehouse.administration.clients.invite({ uses: 2, lifeSeconds: 600 });
    const file = join(testFolder(), 'invitation');
    writeFileSync(file, `${token}\n`);
    for (const [given, input] of [
      [file, ''],
      ['-', token],
    ] as const) {
      const env = { HOME: testFolder() };
      const args = ['login', gatehouse.mcpUrl, '--no-browser', '--timeout', '1', '--trace'];
      const { code, stdout, stderr } = await runGatehouse([...args, '--initial-access-token-file', given], {
        input,
        env,
      });
      expect([code, stderr]).toEqual([3, expect.stringContaining('Registered as a new client')]);
      expect(stdout + stderr).not.toContain(token);
    }
    expect(await gatehouse.administration.clients.list()).toHaveLength(2);
  });
});
