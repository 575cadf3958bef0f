import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScopeRules } from '../src/mcp/scopes/scope-rules.ts';
import { parseSettings } from '../src/options.ts';
import { adviseOnOwnServer, adviseOnSettings } from '../src/settings-advice.ts';
import { testFolderForFile } from './support/folder.ts';

const folder = testFolderForFile();

describe('advice on settings', () => {
  it.each([
    ['the defaults', {}, []],
    ['a server behind a listed proxy', { publicUrl: 'https://a.example', trustedProxies: ['loopback'] }, []],
    [
      'a container behind a listed proxy',
      { publicUrl: 'https://a.example', listen: { host: '0.0.0.0' }, trustedProxies: ['uniquelocal'] },
      [],
    ],
    [
      'a server behind a proxy nobody listed',
      { publicUrl: 'https://a.example' },
      [/trustedProxies is empty/],
    ],
    ['a server that others reach but cannot use', { listen: { host: '0.0.0.0' } }, [/listen\.host/]],
    [
      'a dangerous choice',
      { publicUrl: 'http://localhost:3000', dangerously: { fetchFromLoopback: true } },
      [/^dangerously\.fetchFromLoopback is on/],
    ],
  ])('for %s', (_what, settings, expected) => {
    const given = adviseOnSettings(parseSettings(settings));
    expect(given).toHaveLength(expected.length);
    for (const [index, sentence] of expected.entries()) expect(given[index]).toMatch(sentence);
  });
});

it('settings of backends that hold a placeholder are named, without their value (T-153)', () => {
  const secret = ['canary-$', '{input:token}'].join('');
  const given = adviseOnSettings(
    parseSettings({
      mcpServers: {
        a: { command: process.execPath, args: ['--token', secret], env: { TOKEN: secret, MODE: '$HOME' } },
        b: { url: 'https://b.example/mcp', headers: { Authorization: secret } },
      },
    }),
  );
  expect(given.map((sentence) => sentence.split(':')[0])).toEqual([
    'routes.a.backend.args.1',
    'routes.a.backend.env.TOKEN',
    'routes.b.backend.headers.Authorization',
  ]);
  expect(given.join()).not.toContain('canary');
});

it('programs that are not there are named, by the PATH they are looked for in', () => {
  const given = adviseOnSettings(
    parseSettings({
      routes: {
        there: { backend: { command: process.execPath } },
        elsewhere: { backend: { command: 'sh', env: { PATH: '/nowhere' } } },
        line: { backend: { command: 'npx some-server' } },
        several: { backends: { one: { command: '/nowhere/program' } } },
      },
    }),
  );
  expect(given).toEqual([
    expect.stringMatching(/^routes\.elsewhere\.backend\.command \(sh\): .*install it/),
    expect.stringMatching(/^routes\.line\.backend\.command \(npx some-server\): .*args/),
    expect.stringMatching(/^routes\.several\.backends\.one\.command .*at this path/),
  ]);
});

it('variables of our environment that a download needs are named where they are not handed over, without their values', () => {
  const canary = 'http://user:canary@proxy.example';
  const environment = { PATH: process.env.PATH, HTTPS_PROXY: canary, NODE_EXTRA_CA_CERTS: '/canary.pem' };
  const npx = { command: 'npx', args: ['-y', 'some-server'] };
  const settings = parseSettings({
    routes: {
      none: { backend: npx },
      one: { backend: { ...npx, env: ['HTTPS_PROXY'] } },
      all: { backend: { ...npx, env: ['HTTPS_PROXY', 'NODE_EXTRA_CA_CERTS'] } },
      other: { backend: { command: process.execPath } },
    },
    mcpServers: { host: { ...npx, env: { HTTPS_PROXY: canary } } },
  });
  const given = adviseOnSettings(settings, environment);
  expect(given).toEqual([
    expect.stringMatching(
      /^routes\.none\.backend\.command \(npx\): HTTPS_PROXY, NODE_EXTRA_CA_CERTS are set here.* in routes\.none\.backend\.env, or with --env HTTPS_PROXY --env NODE_EXTRA_CA_CERTS/,
    ),
    expect.stringMatching(/^routes\.one\.backend\.command \(npx\): NODE_EXTRA_CA_CERTS is set here/),
    expect.stringMatching(
      /^routes\.host\..* NODE_EXTRA_CA_CERTS .*with a value in routes\.host\.backend\.env/,
    ),
  ]);
  expect(given.join()).not.toContain('canary');
});

it('a public URL that ends like an endpoint is named with where it is served, and what to set', () => {
  const settings = (publicUrl: string) => parseSettings({ publicUrl, trustedProxies: ['127.0.0.1'] });
  expect(adviseOnSettings(settings('https://a.example/mcp'))).toEqual([
    'publicUrl (https://a.example/mcp): /mcp, /sse and /rest are added to it, so the MCP endpoint is https://a.example/mcp/mcp. Set https://a.example to have it at https://a.example/mcp.',
  ]);
  expect(adviseOnSettings(settings('https://mcp.example.com/tools'))).toEqual([]);
});

it('a path that ends like an endpoint is named with where it is served, and what to set', () => {
  const backend = { command: process.execPath };
  const routes = {
    notes: { backend, path: '/team/mcp' },
    root: { backend, path: '/rest' },
    fine: { backend, path: '/mcp-tools' },
  };
  expect(adviseOnSettings(parseSettings({ routes }))).toEqual([
    'routes.notes.path (/team/mcp): /mcp, /sse and /rest are added to it, so it is served at /team/mcp/mcp. Set /team to serve it at /team/mcp.',
    expect.stringContaining('Set / to serve it at /mcp.'),
  ]);
});

it('scopes that nothing needs are named, and the setting that would name them', () => {
  const backend = { command: process.execPath };
  const scopes = { 'a:see': 'See.', 'a:up': 'Count up.' };
  const routes = {
    all: { backend, scopes },
    baseline: { backend, scopes, baselineScopes: ['a:see'] },
    rules: { backend, scopes, scopeRules: { tools: { up: ['a:up'] }, otherwise: [] } },
    included: { backend, scopes, scopeRules: { otherwise: ['a:see'], implies: { 'a:up': ['a:see'] } } },
  };
  const given = adviseOnSettings(parseSettings({ routes }));
  expect(given).toEqual([
    expect.stringMatching(/^routes\.baseline\.scopes\.a:up: .* routes\.baseline\.scopeRules/),
    expect.stringMatching(/^routes\.rules\.scopes\.a:see: .*otherwise/),
  ]);
});

it('what rules of scopes leave open to every login is named, and what would close it', () => {
  const backend = { command: process.execPath };
  const scopes = { 'a:see': 'See.', 'a:up': 'Count up.' };
  const tools = { see: ['a:see'], up: ['a:up'] };
  const routes = {
    tools: { backend, scopes, baselineScopes: ['a:see'], scopeRules: { tools } },
    all: { backend, scopes, scopeRules: { tools, prompts: tools, resources: { 'a://': ['a:see'] } } },
    closed: { backend, scopes, scopeRules: { tools, otherwise: ['a:see'] } },
    meant: { backend, scopes, scopeRules: { tools, otherwise: [] } },
    one: { backend, scopeRules: { tools: { see: [] } } },
  };
  expect(adviseOnSettings(parseSettings({ routes }))).toEqual([
    'routes.tools.scopeRules: all prompts and resources, and tools that no rule names, are open to every login, whatever it was granted. Set routes.tools.scopeRules.otherwise to what they need, such as ["a:see"], or to [] if that is intended.',
    expect.stringMatching(
      /^routes\.all\.scopeRules: tools, prompts and resources that no rule names are open .* such as \["a:see","a:up"\]/,
    ),
  ]);
});

it('what a server of code leaves open to every login is named, unless it says what that needs', () => {
  const scopes = { 'a:see': 'See.', 'a:up': 'Count up.' };
  const server = { scopes, baselineScopes: ['a:see'], scopeRules: {} };
  expect(adviseOnOwnServer(server)).toEqual([
    'server.scopeRules: whatever neither a rule nor declareScopes names is open to every login, whatever it was granted. Set server.scopeRules.otherwise to what it needs, such as ["a:see"], or to [] if that is intended.',
  ]);
  const ruled: ScopeRules = { tools: { up: ['a:up'] } };
  expect(adviseOnOwnServer({ ...server, scopeRules: ruled })).toHaveLength(1);
  for (const otherwise of [[], ['a:see']])
    expect(adviseOnOwnServer({ ...server, scopeRules: { otherwise } })).toEqual([]);
  expect(adviseOnOwnServer({ scopes: {}, baselineScopes: [], scopeRules: {} })).toEqual([]);
});

it('rules without the key of one of several backends are named, with the names that were probably meant', () => {
  const files = { command: process.execPath };
  const policy = { tools: { deny: ['write_*'] } };
  const routes = { several: { backends: { files }, policy }, one: { backend: files, policy } };
  expect(adviseOnSettings(parseSettings({ routes }))).toEqual([
    'routes.several.policy.tools.deny.0 (write_*): it matches nothing, because all names there begin with the key of their backend. Did you mean files_write_*?',
  ]);
});

it('files of secrets that others can read are named, with what to do (T-163)', () => {
  const file = (name: string, mode: number): string => {
    const path = join(folder, name);
    writeFileSync(path, 'canary'.repeat(8));
    chmodSync(path, mode);
    return path;
  };
  const client = (clientId: string, secretFile: string) => ({
    clientId,
    name: clientId,
    redirectUris: ['https://a.example/callback'],
    authMethod: 'client_secret_basic' as const,
    secretFile,
  });
  const upstream = { issuer: 'https://up.example', clientId: 'g' };
  const given = adviseOnSettings(
    parseSettings({
      clients: {
        preRegistered: [client('own', file('own', 0o640)), client('open', file('open', 0o644))],
      },
      upstreams: {
        up: { ...upstream, clientSecretFile: file('up', 0o604) },
        gone: { ...upstream, issuer: 'https://b.example', clientSecretFile: join(folder, 'gone') },
      },
    }),
  );
  expect(given).toEqual(
    ['open', 'up'].map((name) => expect.stringContaining(`${join(folder, name)} can be read by others`)),
  );
  expect(given.join()).not.toContain('canary');
});
