import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testFolder } from '../../../client/support/folder.ts';
import { type Program, runProgram } from '../../../support/program.ts';
import { commandLine, runGatehouse } from '../../../support/served.ts';

function configFile(settings: object): string {
  const file = join(testFolder(), 'gatehouse.json');
  writeFileSync(file, JSON.stringify(settings));
  return file;
}

/** Starts a server for the test; gives what it said about itself. */
async function serve(
  args: readonly string[],
): Promise<{ facts: Record<string, unknown>; log: () => string; program: Program }> {
  const program = runProgram(commandLine, ['serve', '--port', '0', '--json', ...args], { input: '' });
  onTestFinished(() => program.stop());
  const [text] = await program.waitFor('stdout', /\{[\s\S]*\n\}/);
  return { facts: JSON.parse(text), log: () => program.written.stderr, program };
}

describe('gatehouse serve', () => {
  it('that fails at its first start leaves the first account to the next one', async () => {
    const data = join(testFolder(), 'data');
    const misfit = configFile({ trustedProxies: ['everybody'] });
    const refused = await runGatehouse(['serve', '--port', '0', '--data', data, '--config', misfit]);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toMatch(/trustedProxies/);
    expect(refused.stderr).not.toContain('Unexpected failure');
    const misnamed = await runGatehouse(['serve', '--port', '0', '--data', data], {
      env: { GATEHOUSE_ACCOUNT_EMAIL: 'nobody' },
    });
    expect([misnamed.code, misnamed.stdout]).toEqual([2, '']);
    expect(misnamed.stderr).toMatch(/is not an e-mail address/);
    expect((await serve(['--data', data])).facts.firstAccount).toMatchObject({
      email: 'owner@localhost',
      generatedPassword: expect.stringMatching(/.{12}/),
    });
  });

  it('warns of a data folder that every user of the machine may write', async () => {
    const data = testFolder();
    chmodSync(data, 0o777);
    expect((await serve(['--data', data])).log()).toMatch(
      /^Warning: All users of this machine may write to the data folder \(mode 777\).* Run: chmod 700 /m,
    );
  });

  it('on the data folder of another server is refused, and commands are not; once that one was told to stop, it starts (FA-37)', async () => {
    const data = testFolder();
    const { program } = await serve(['--data', data]);
    const refused = await runGatehouse(['serve', '--port', '0', '--data', data]);
    expect([refused.code, refused.stdout]).toEqual([7, '']);
    expect(refused.stderr).toMatch(
      /^Another server runs on this data folder\. Stop it first, or set cluster\.port for both: /m,
    );
    expect((await runGatehouse(['account', 'list', '--data', data])).code).toBe(0);
    program.process.kill('SIGTERM');
    await serve(['--data', data]);
  });

  it('on a port in use says so, and how to choose another', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await runGatehouse(['serve', '--port', String(port), '--data', testFolder()]);
    expect([code, stderr]).toEqual([7, `Port ${port} is in use.\nChoose another one with --port.\n`]);
  });

  it('reads HTTP as it is written down: what could be read in two ways is 400, and the connection ends (T-111)', async () => {
    const { facts } = await serve(['--data', testFolder()]);
    const host = new URL(String(facts.publicUrl)).host;
    const smuggled = `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    for (const framing of [
      `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `Content-Length: 0\r\nContent-Length: 5\r\n\r\n`,
      `Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
      `X: a\rContent-Length: 5\r\n\r\n`,
    ]) {
      const socket = connect(Number(facts.port), '127.0.0.1');
      const chunks: Buffer[] = [];
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.write(`POST /token HTTP/1.1\r\nHost: ${host}\r\n${framing}${smuggled}`);
      await once(socket, 'close');
      const answers = Buffer.concat(chunks)
        .toString()
        .match(/^HTTP\/1\.1 \d+/gm);
      expect([framing, answers]).toEqual([framing, ['HTTP/1.1 400']]);
    }
  });

  it('answers GET /metrics on the port that is set for it, and not on the public one (T-113)', async () => {
    const config = configFile({ listen: { port: 0 }, metrics: { port: 0 } });
    const { facts } = await serve(['--config', config, '--data', testFolder()]);
    const metrics = await fetch(`http://127.0.0.1:${facts.metricsPort}/metrics`);
    expect(await metrics.text()).toContain('gatehouse_build_info');
    expect((await fetch(`${facts.publicUrl}/metrics`)).status).toBe(404);
  });

  it('on a port for metrics that is taken names its setting', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    onTestFinished(() => void taken.close());
    const config = configFile({
      listen: { port: 0 },
      metrics: { port: (taken.address() as AddressInfo).port },
    });
    const { stderr } = await runGatehouse(['serve', '--config', config, '--data', testFolder()]);
    expect(stderr).toMatch(/^Port \d+ is in use\.\nSet metrics\.port/);
  });

  it('on an address of another machine names the setting of the address, not the port', async () => {
    const config = configFile({ listen: { host: '192.0.2.1', port: 0 } });
    const { stderr } = await runGatehouse(['serve', '--config', config, '--data', testFolder()]);
    expect(stderr).toMatch(/cannot listen on 192\.0\.2\.1.*\n.*listen\.host/);
    expect(stderr).not.toContain('--port');
  });

  it('with https and no trusted proxy warns once: all clients would share one limit (T-061)', async () => {
    const behindProxy = ['--public-url', 'https://mcp.example.com'];
    const { log } = await serve([...behindProxy, '--data', testFolder()]);
    expect(log().match(/trustedProxies/g)).toHaveLength(1);
    const config = configFile({ trustedProxies: ['loopback'] });
    const { log: quiet } = await serve([...behindProxy, '--data', testFolder(), '--config', config]);
    expect(quiet()).not.toContain('trustedProxies');
  });

  it('--help names the reference of the settings', async () => {
    expect((await runGatehouse(['serve', '--help'])).stdout).toContain('config/options.md');
  });
});
