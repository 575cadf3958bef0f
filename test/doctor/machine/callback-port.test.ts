import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callbackPortCheck } from '../../../src/doctor/machine/callback-port.ts';
import { finding } from './test-machine.ts';

async function listen(host: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    server.close();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no address');
  return address.port;
}

describe('MACHINE-CALLBACK-PORT', () => {
  it('passes where any port will do', async () => {
    expect(await finding(callbackPortCheck())).toMatchObject({ verdict: 'pass' });
  });

  it('finds a fixed port that is taken, and who holds it (CL-4)', async () => {
    const port = await listen('127.0.0.1');
    const found = await finding(callbackPortCheck(port));
    expect(found.verdict).toBe('fail');
    expect(found.saw).toContain(`127.0.0.1 port ${port} is taken`);
    if (process.platform === 'linux') expect(found.saw).toContain(`(pid ${process.pid})`);
    expect(found.fix).toContain('--callback-port');
  });

  it('finds a port taken on ::1 only: a browser may go there instead (CL-7)', async (context) => {
    const port = await listen('::1').catch(() => undefined);
    if (port === undefined) return context.skip('this machine has no ::1');
    const found = await finding(callbackPortCheck(port));
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining(`::1 port ${port}`) });
  });

  it('finds a port this user may not listen on', async (context) => {
    if (process.getuid?.() === 0) return context.skip('root may listen on every port');
    const found = await finding(callbackPortCheck(1));
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('EACCES') });
  });
});
