import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../src/options.ts';
import {
  checkUpstreams,
  createUpstreams,
  findSharedIssuers,
  readCredentials,
  upstreamCallbackPath,
} from '../../src/upstream/create-upstreams.ts';
import type { Upstream, UpstreamSettings } from '../../src/upstream/upstream.ts';
import { testFolder } from '../client/support/folder.ts';

const options = {
  publicUrl: 'https://mcp.example/a',
  dangerouslyFromLoopback: false,
  environment: {},
  now: () => 0,
};
const create = (upstreams: object) =>
  createUpstreams(
    parseSettings({ upstreams } as object).upstreams as Record<string, UpstreamSettings>,
    options,
  );

describe('the upstreams of an installation', () => {
  it('have a callback each, and what people call them (T-087)', async () => {
    const proof = { clientId: 'c', clientSecret: 's' };
    const { upstreams, problems } = await create({
      google: { preset: 'google', ...proof },
      work: { issuer: 'https://idp.example', label: 'Example Inc.', ...proof },
      plain: { issuer: 'https://plain.example', ...proof },
    });
    expect(problems).toEqual([]);
    expect(upstreams.all.map(({ name, label, callbackUrl }) => [name, label, callbackUrl])).toEqual([
      ['google', 'Google', 'https://mcp.example/a/upstream/google/callback'],
      ['work', 'Example Inc.', 'https://mcp.example/a/upstream/work/callback'],
      ['plain', 'plain', 'https://mcp.example/a/upstream/plain/callback'],
    ]);
    expect(upstreams.find('work')?.label).toBe('Example Inc.');
    expect(upstreams.find('constructor')).toBeUndefined();
    expect(upstreamCallbackPath('work')).toBe('/upstream/work/callback');
  });

  it('have an issuer of their identities, but for one of many tenants (T-089)', async () => {
    const proof = { clientId: 'c', clientSecret: 's' };
    const entra = (tenant: string) => ({
      preset: 'entra',
      issuer: `https://login.microsoftonline.com/${tenant}/v2.0`,
      ...proof,
    });
    const { upstreams } = await create({
      google: { preset: 'google', ...proof },
      github: { preset: 'github', ...proof },
      own: entra('11111111-2222-3333-4444-555555555555'),
      all: entra('common'),
    });
    expect(upstreams.all.map(({ issuer }) => issuer)).toEqual([
      'https://accounts.google.com',
      'https://github.com',
      'https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0',
      undefined,
    ]);
  });

  it('whose secrets cannot be read are named, all of them', async () => {
    const proof = { clientId: 'c', clientSecretFile: '/nowhere/secret' };
    const { problems } = await create({
      google: { preset: 'google', ...proof },
      work: { issuer: 'https://idp.example', ...proof },
    });
    expect(problems).toEqual([
      'upstreams.google.clientSecretFile: /nowhere/secret cannot be read (ENOENT)',
      'upstreams.work.clientSecretFile: /nowhere/secret cannot be read (ENOENT)',
    ]);
  });
});

describe('credentials', () => {
  function fileWith(text: string): string {
    const file = join(testFolder(), 'proof');
    writeFileSync(file, text);
    return file;
  }

  describe('what this server proves itself with at an upstream', () => {
    it('is a secret of the settings, or of a file', async () => {
      expect(await readCredentials({ clientId: 'c', clientSecret: 's' }, {})).toEqual({
        identity: { clientId: 'c', clientSecret: 's' },
      });
      expect(await readCredentials({ clientId: 'c', clientSecretFile: fileWith('s\n') }, {})).toEqual({
        identity: { clientId: 'c', clientSecret: 's' },
      });
    });

    it('is the value of a variable of the environment, which has to be set, and is never shown (T-093)', async () => {
      const given = { clientId: 'c', clientSecret: { env: 'WORK_SECRET' } };
      expect(await readCredentials(given, { WORK_SECRET: 'canary' })).toEqual({
        identity: { clientId: 'c', clientSecret: 'canary' },
      });
      expect(await readCredentials(given, { WORK_SECRET: 'canary\r\n' })).toEqual({
        identity: { clientId: 'c', clientSecret: 'canary' },
      });
      for (const environment of [{}, { WORK_SECRET: '' }, { WORK_SECRET: ' \n' }, { WORK_SECRETS: 'canary' }])
        expect(await readCredentials(given, environment)).toEqual({
          problem: 'clientSecret: the environment has no WORK_SECRET: set it',
        });
      const inherited = { clientId: 'c', clientSecret: { env: 'constructor' } };
      expect(await readCredentials(inherited, {})).toHaveProperty('problem');
    });

    it('is a key of a file, PEM or JWK (A13-02)', async () => {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
      const jwk = JSON.stringify({ ...privateKey.export({ format: 'jwk' }), kid: 'k1' });
      expect(await readCredentials({ clientId: 'c', clientKeyFile: fileWith(pem) }, {})).toMatchObject({
        identity: { privateKey: { alg: 'ES256' }, tokenEndpointAuthMethod: 'private_key_jwt' },
      });
      expect(await readCredentials({ clientId: 'c', clientKeyFile: fileWith(jwk) }, {})).toMatchObject({
        identity: { privateKey: { kid: 'k1' } },
      });
    });

    it('is named by its setting where it cannot be read, and never shown (T-093)', async () => {
      const missing = join(testFolder(), 'none');
      expect(await readCredentials({ clientId: 'c', clientSecretFile: missing }, {})).toEqual({
        problem: `clientSecretFile: ${missing} cannot be read (ENOENT)`,
      });
      expect(await readCredentials({ clientId: 'c', clientSecretFile: fileWith(' \n') }, {})).toMatchObject({
        problem: expect.stringMatching(/is empty$/),
      });
      const refused = await readCredentials({ clientId: 'c', clientKeyFile: fileWith('canary') }, {});
      expect(refused).toMatchObject({ problem: expect.stringMatching(/^clientKeyFile: .*neither PEM/) });
      expect(JSON.stringify(refused)).not.toContain('canary');
    });
  });
});

describe('check upstreams', () => {
  const known = [{ resource: 'https://a.example/mcp', scopes: { 'notes:read': 'Read notes.' } }];

  describe('upstreams and the installation', () => {
    it('fit where they name what there is', () => {
      const fitting = {
        work: {
          resources: ['https://a.example/mcp'],
          grantScopes: [{ claim: 'groups', value: 'staff', scopes: ['notes:read'] }],
        },
        other: { resources: [] },
      };
      expect(checkUpstreams(fitting, known)).toEqual([]);
    });

    it('do not fit where they do not: each problem by its place', () => {
      const misfits = {
        work: {
          resources: ['https://a.example/mcp', 'https://b.example'],
          grantScopes: [{ claim: 'groups', value: 'staff', scopes: ['notes:write'] }],
        },
        other: { resources: ['https://a.example/mcp'] },
      };
      expect(checkUpstreams(misfits, known)).toEqual([
        'upstreams.work.resources: there is no https://b.example here; there are https://a.example/mcp',
        'upstreams.work.grantScopes.0.scopes: there is no notes:write here; there are notes:read',
        'upstreams.other.resources: https://a.example/mcp wants work already',
      ]);
    });
  });
});

describe('shared issuers', () => {
  const upstream = (name: string, issuer: string | undefined, settings: object) =>
    ({ name, issuer, settings }) as Pick<Upstream, 'name' | 'issuer' | 'settings'>;
  const plain = (name: string, userInfoEndpoint: string, subject = 'id') =>
    upstream(name, 'https://git.example', { userInfoEndpoint, userInfo: { subject } });
  const openId = (name: string, issuer: string) => upstream(name, issuer, { issuer });

  describe('upstreams that share an issuer', () => {
    it.each([
      [
        'two clients of one server',
        [plain('a', 'https://git.example/user'), plain('b', 'https://git.example/user')],
      ],
      [
        'two clients of one OpenID provider',
        [openId('a', 'https://idp.example'), openId('b', 'https://idp.example')],
      ],
      ['two servers', [openId('a', 'https://idp.example'), plain('b', 'https://git.example/user')]],
      ['those with an issuer for each tenant', [upstream('a', undefined, {}), upstream('b', undefined, {})]],
    ])('are no problem where the same people have the same subjects: %s', (_what, upstreams) => {
      expect(findSharedIssuers(upstreams)).toEqual([]);
    });

    it.each([
      ['another server of the origin', plain('b', 'https://git.example/two/user')],
      ['another name of the same people', plain('b', 'https://git.example/user', 'login')],
      ['an OpenID provider of the origin', openId('b', 'https://git.example')],
    ])('are refused where somebody could come in as somebody else: %s (T-089)', (_what, other) => {
      const problems = findSharedIssuers([plain('a', 'https://git.example/user'), other]);
      expect(problems).toEqual([
        expect.stringMatching(/^upstreams\.b: .* those of a .* https:\/\/git\.example/),
      ]);
    });
  });
});
