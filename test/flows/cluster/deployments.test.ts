// The settings of config/compose and config/kubernetes, as nodes that run, and Caddy with the file of config/compose.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { generateMasterKey } from '../../../src/storage/postgres/open-installation.ts';
import { testFolder } from '../../client/support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { repository, runProgram } from '../../support/program.ts';
import { commandLine } from '../../support/served.ts';
import { startProxy } from '../proxies/support/proxy-program.ts';
import { openSession } from '../restart/support/session.ts';

const server = usePostgres();

function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8');
}

/** Starts a node with settings of a deployment: on this machine nodes need ports and folders of their own. */
async function startNode(path: string, env: Record<string, string>, given: object = {}) {
  const settings = JSON.parse(read(path)) as { cluster: object };
  const file = join(testFolder(), 'gatehouse.json');
  const own = { listen: { port: 0 }, data: testFolder(), cluster: { ...settings.cluster, port: 0 } };
  writeFileSync(file, JSON.stringify({ ...settings, ...own, ...given }));
  const program = runProgram(commandLine, ['serve', '--config', file, '--json'], { input: '', env });
  onTestFinished(() => program.stop());
  const [text] = await program.waitFor('stdout', /\{[\s\S]*\n\}/);
  const facts = JSON.parse(text) as { port: number; firstAccount?: { generatedPassword?: string } };
  return { program, ...facts };
}

async function newDatabase() {
  return {
    GATEHOUSE_POSTGRES: await server().createDatabase(),
    GATEHOUSE_MASTER_KEY: generateMasterKey(),
  };
}

describe('the files of a deployment', () => {
  it('of Compose serve logins and sessions by two nodes behind Caddy, also once one of them has ended', async () => {
    const listen = await freePort();
    const url = `http://localhost:${listen}`;
    const env = {
      ...(await newDatabase()),
      GATEHOUSE_PUBLIC_URL: url,
      GATEHOUSE_NODE_ADDRESS: '127.0.0.1',
    };
    const given = { dangerously: { trustOtherPorts: true } };
    const first = await startNode('config/compose/gatehouse.json', env, given);
    const second = await startNode('config/compose/gatehouse.json', env, given);
    const site = read('config/compose/Caddyfile')
      .replace('{$GATEHOUSE_HOST}', url)
      .replace('gatehouse-1:3000', `127.0.0.1:${first.port}`)
      .replace('gatehouse-2:3000', `127.0.0.1:${second.port}`);
    const stop = await startProxy(
      'caddy',
      { listen, upstream: first.port },
      () => `{\n\tadmin off\n}\n${site}`,
    );
    onTestFinished(stop);
    const person = { email: 'owner@localhost', password: first.firstAccount?.generatedPassword ?? '' };
    const { tokens } = await obtainTokens({ url, mcpUrl: `${url}/mcp` }, { person });
    const session = await openSession({ mcpUrl: `${url}/mcp`, token: tokens.access_token });
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    for (let time = 0; time < 20; time++) expect((await session.post(ping)).status).toBe(200);
    await first.program.stop();
    // Until Caddy has asked the node for its health, requests that it sent there get 502.
    let served = 0;
    await expect
      .poll(
        async () => {
          served = (await session.post(ping)).status === 200 ? served + 1 : 0;
          return served;
        },
        { timeout: 30_000 },
      )
      .toBeGreaterThan(20);
  });

  it('of Kubernetes start a node whose probes and metrics respond at the paths of the manifests', async () => {
    const metricsPort = await freePort();
    const env = { ...(await newDatabase()), POD_IP: '127.0.0.1' };
    const metrics = { port: metricsPort, host: '127.0.0.1' };
    const { port } = await startNode('config/kubernetes/gatehouse.json', env, { metrics });
    for (const path of ['/readyz', '/healthz'])
      expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(200);
    const scraped = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    const [metric = ''] = /gatehouse_\w+/.exec(read('config/kubernetes/autoscaler.yaml')) ?? [];
    expect(await scraped.text()).toMatch(new RegExp(`^${metric} 0$`, 'm'));
  });
});
