// Over src/client/node/preflight.ts: what the command line says where clients are not simply admitted.
import { afterEach, describe, expect, it } from 'vitest';
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
});
