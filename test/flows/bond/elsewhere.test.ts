// Flows of src/authorization-server/endpoints/introspection-endpoint.ts and
// src/authorization-server/token-exchange/token-exchange-grant.ts where a grant hangs on a login at an upstream.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post } from '../../support/oauth.ts';
import { type OpenIdUpstream, startOpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin } from '../../support/upstreams/people.ts';
import { basic, clientWithSecret, tokenExchange } from '../machines/subject.ts';
import { age, arrive, type Scene, startScene } from './subject.ts';

const grantTypes: [typeof tokenExchange] = [tokenExchange];
const scopes = { 'files:read': 'Read your files.' };
const files = 'https://files.example.com';
const archive = 'https://archive.example.com';

describe.each(['opaque', 'jwt'] as const)('a token in the format %s for a server elsewhere', (format) => {
  let scene: Scene<OpenIdUpstream>;
  beforeAll(async () => {
    const introspectedBy = ['files'];
    const common = { scopes, introspectedBy, accessTokenFormat: format };
    scene = await startScene(
      await startOpenIdUpstream(),
      { graceSeconds: 60 },
      {
        resources: [
          { ...common, resource: files, name: 'Files' },
          { ...common, resource: archive, name: 'Archive' },
        ],
        tokenExchange: [{ clientId: 'files', from: files, to: [archive] }],
        clients: { preRegistered: [clientWithSecret('files', { grantTypes })] },
      },
    );
  });
  afterAll(() => scene.stop());

  const introspect = async (token: string): Promise<[number, unknown, string | null]> => {
    const response = await post(`${scene.gatehouse.url}/introspect`, { token }, basic('files'));
    const { active, error } = (await response.json()) as { active?: boolean; error?: string };
    return [response.status, active ?? error, response.headers.get('retry-after')];
  };
  const exchange = async (token: string): Promise<[number, unknown, string | null]> => {
    const response = await post(
      `${scene.gatehouse.url}/token`,
      {
        grant_type: tokenExchange,
        subject_token: token,
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      },
      basic('files'),
    );
    const { error, access_token: exchanged } = (await response.json()) as Record<string, string>;
    return [response.status, error ?? exchanged, response.headers.get('retry-after')];
  };
  const arriveForFiles = () => arrive(scene, { scope: 'files:read', resource: files });

  it('is active and can be exchanged while the login stands (A10-02)', async () => {
    const { tokens } = await arriveForFiles();
    expect(await introspect(tokens.access_token)).toEqual([200, true, null]);
    const [status, exchanged] = await exchange(tokens.access_token);
    expect(status).toBe(200);
    expect(await introspect(String(exchanged))).toEqual([200, true, null]);
    await scene.gatehouse.storage.upstreams.endAll('work');
  });

  it('is neither active nor not while nobody can tell, and nothing ends (T-090)', async () => {
    const { tokens } = await arriveForFiles();
    await age(scene, { expiredAgo: 100, unreachableFor: 61 });
    await scene.work.down();
    try {
      expect(await introspect(tokens.access_token)).toEqual([
        503,
        'temporarily_unavailable',
        expect.any(String),
      ]);
      expect(await exchange(tokens.access_token)).toEqual([
        503,
        'temporarily_unavailable',
        expect.any(String),
      ]);
    } finally {
      await scene.work.up();
    }
    await expect.poll(async () => (await introspect(tokens.access_token))[1], { timeout: 10_000 }).toBe(true);
    await scene.gatehouse.storage.upstreams.endAll('work');
  });

  it('is not active when the login has ended, nor is what it was exchanged for (A10-02)', async () => {
    const { tokens } = await arriveForFiles();
    const [, exchanged] = await exchange(tokens.access_token);
    scene.work.revokeTokensOf(lin.sub);
    await scene.gatehouse.storage.upstreams.endAll('work');
    expect(await introspect(tokens.access_token)).toEqual([200, false, null]);
    expect(await introspect(String(exchanged))).toEqual([200, false, null]);
    expect(await exchange(tokens.access_token)).toEqual([400, 'invalid_request', null]);
  });
});
