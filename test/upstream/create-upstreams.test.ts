import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../src/options.ts';
import { createUpstreams, upstreamCallbackPath } from '../../src/upstream/create-upstreams.ts';
import type { UpstreamSettings } from '../../src/upstream/upstream-settings.ts';

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
