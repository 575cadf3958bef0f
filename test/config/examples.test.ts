import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadSettings } from '../../src/config/load.ts';
import { parseSettings } from '../../src/options.ts';
import { examineConfigured } from '../../src/upstream/examination/configured.ts';
import { testFolder } from '../client/support/folder.ts';
import { repository, runProgram } from '../support/program.ts';
import { commandLine } from '../support/served.ts';
import { startOpenIdUpstream } from '../support/upstreams/open-id.ts';

const examples = globSync('config/examples/*.json', { cwd: repository }).map((file) =>
  join(repository, file),
);

/** Puts an example into a folder of its own, with the files of secrets that it names. */
function install(file: string): string {
  const folder = testFolder();
  const { upstreams } = loadSettings(file, {});
  mkdirSync(join(folder, 'secrets'));
  for (const [name, { clientSecretFile }] of Object.entries(upstreams))
    if (clientSecretFile !== undefined)
      writeFileSync(join(folder, 'secrets', basename(clientSecretFile)), `secret of ${name}`);
  const installed = join(folder, basename(file));
  copyFileSync(file, installed);
  return installed;
}

describe('the example configurations', () => {
  it('are there', () => {
    expect(examples.map((file) => basename(file)).sort()).toEqual([
      'behind-proxy.json',
      'container.json',
      'gateway.json',
      'local.json',
      'several.json',
      'upstreams.json',
    ]);
  });

  it.each(examples)('%s starts, and publishes the URL it names', async (file) => {
    const { publicUrl } = loadSettings(file, {});
    const program = runProgram(
      commandLine,
      ['serve', '--config', install(file), '--port', '0', '--json', '--data', testFolder()],
      { input: '' },
    );
    onTestFinished(() => program.stop());
    const [text] = await program.waitFor('stdout', /\{[\s\S]*\n\}/);
    const facts = JSON.parse(text) as { publicUrl: string; port: number };
    const base = `http://127.0.0.1:${facts.port}`;
    expect(facts.publicUrl).toBe(publicUrl ?? `http://localhost:${facts.port}`);
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
    const metadata = await fetch(`${base}/.well-known/oauth-authorization-server`);
    expect(await metadata.json()).toMatchObject({
      issuer: facts.publicUrl,
      token_endpoint: `${facts.publicUrl}/token`,
    });
  });

  it('for a gateway serves the routes it names, each at its path', async () => {
    const file = join(repository, 'config/examples/gateway.json');
    const program = runProgram(
      commandLine,
      ['serve', '--config', install(file), '--port', '0', '--json', '--data', testFolder()],
      { input: '' },
    );
    onTestFinished(() => program.stop());
    const [text] = await program.waitFor('stdout', /\{[\s\S]*\n\}/);
    const { servers } = JSON.parse(text) as { servers: { name: string; mcpUrl: string }[] };
    expect(servers.map(({ name, mcpUrl }) => [name, new URL(mcpUrl).pathname])).toEqual([
      ['Shared files', '/files/mcp'],
      ['What the team knows', '/team/memory/mcp'],
    ]);
    for (const { mcpUrl } of servers) expect((await fetch(mcpUrl, { method: 'POST' })).status).toBe(401);
  });

  it('name a schema that is there', () => {
    for (const file of examples) {
      const { $schema } = JSON.parse(readFileSync(file, 'utf8')) as { $schema: string };
      expect(() => JSON.parse(readFileSync(join(file, '..', $schema), 'utf8'))).not.toThrow();
    }
  });

  it('for upstreams fits a provider as it is: gatehouse upstream test finds nothing to mend', async () => {
    const provider = await startOpenIdUpstream();
    onTestFinished(() => provider.stop());
    provider.allow('https://mcp.example.com/upstream/company/callback');
    const settings = loadSettings(join(repository, 'config/examples/upstreams.json'), {});
    const { clientSecretFile: _file, ...company } = settings.upstreams.company ?? {};
    const { issuer, clientId, clientSecret } = provider.settings();
    const { upstreams } = parseSettings({
      dangerously: { upstreamsOverHttp: true },
      upstreams: { company: { ...company, issuer, clientId, clientSecret } },
    });
    const report = await examineConfigured(
      { upstreams, publicUrl: settings.publicUrl ?? '', dangerouslyFromLoopback: true },
      'company',
      { fetch, now: () => Math.floor(Date.now() / 1000), env: {} },
    );
    expect(report?.findings.filter(({ verdict }) => verdict === 'fail')).toEqual([]);
  });
});
