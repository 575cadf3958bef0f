import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Gives a port of 127.0.0.1 nobody listens on, below those that systems give out by themselves: until whoever asked listens
 * there, no other test that listens on any port gets the same.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 50; tries++) {
    const port = randomInt(20_000, 30_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error('there is no free port');
}
