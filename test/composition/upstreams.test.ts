import { describe, expect, it } from 'vitest';
import { composeUpstreams } from '../../src/composition/upstreams.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { parseSettings } from '../../src/options.ts';

const resources = [{ resource: 'https://a.example/mcp', scopes: { 'notes:read': 'Read notes.' } }];
const compose = (work: object) =>
  composeUpstreams({
    settings: parseSettings({
      upstreams: { work: { issuer: 'https://idp.example', clientId: 'c', ...work } },
    } as object),
    publicUrl: 'https://a.example',
    resources,
    environment: {},
    logger: createLogger('silent'),
    now: () => 0,
  });

describe('the upstreams of the settings', () => {
  it('are there, and none was asked anything: one that is down stops no start (T-088)', async () => {
    const upstreams = await compose({ issuer: 'https://no-such-host.invalid', clientSecret: 's' });
    expect(upstreams.all.map(({ name, callbackUrl }) => [name, callbackUrl])).toEqual([
      ['work', 'https://a.example/upstream/work/callback'],
    ]);
  });

  it('that would take the people of one for those of another are refused (T-089)', async () => {
    const client = { clientId: 'c', clientSecret: 's' };
    const at = (path: string, subject: string) => ({
      ...client,
      authorizationEndpoint: `https://git.example/${path}/authorize`,
      tokenEndpoint: `https://git.example/${path}/token`,
      userInfoEndpoint: `https://git.example/${path}/user`,
      userInfo: { subject },
    });
    const composed = (upstreams: object) =>
      composeUpstreams({
        settings: parseSettings({ upstreams } as object),
        publicUrl: 'https://a.example',
        resources,
        environment: {},
        logger: createLogger('silent'),
        now: () => 0,
      });
    for (const other of [at('b', 'id'), at('a', 'login'), { ...client, issuer: 'https://git.example' }])
      await expect(composed({ one: at('a', 'id'), two: other })).rejects.toMatchObject({
        problems: [
          expect.stringMatching(/^upstreams\.two: its people and those of one .* https:\/\/git\.example/),
        ],
      });
    const login = await composed({ one: at('a', 'id'), two: { ...at('a', 'id'), clientId: 'd' } });
    expect(login.all).toHaveLength(2);
  });

  it('that do not fit, or whose files cannot be read, are refused with all that is wrong', async () => {
    const wrong = { clientSecretFile: '/nowhere/secret', resources: ['https://b.example'] };
    await expect(compose(wrong)).rejects.toMatchObject({
      name: 'SettingsRefused',
      problems: [
        expect.stringMatching(/^upstreams\.work\.resources: there is no https:\/\/b\.example/),
        expect.stringMatching(/^upstreams\.work\.clientSecretFile: .*cannot be read/),
      ],
    });
  });
});
