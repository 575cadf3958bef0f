import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { findPortHolder } from '../../../src/client/node/port-holder.ts';

describe('the holder of a port', () => {
  it.skipIf(process.platform === 'win32')(
    'is named with its process, and nobody where it is free (CL-4)',
    async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as { port: number };
      expect(await findPortHolder(port)).toEqual({ pid: process.pid, name: expect.stringMatching(/node/) });
      await new Promise((resolve) => server.close(resolve));
      expect(await findPortHolder(port)).toBeUndefined();
    },
  );
});
