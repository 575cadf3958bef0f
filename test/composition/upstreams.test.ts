import { describe, expect, it } from 'vitest';
import { composeUpstreams } from '../../src/composition/upstreams.ts';
import { parseSettings } from '../../src/options.ts';

const resources = [{ resource: 'https://a.example/mcp', scopes: { 'notes:read': 'Read notes.' } }];
const compose = (work: object) =>
  composeUpstreams({
    settings: parseSettings({
      upstreams: { work: { issuer: 'https://idp.example', clientId: 'c', ...work } },
    } as object),
    publicUrl: 'https://a.example',
    resources,
    now: () => 0,
  });

describe('the upstreams of the settings', () => {
  it('are there, and none was asked anything: one that is down stops no start (T-088)', async () => {
    const upstreams = await compose({ issuer: 'https://no-such-host.invalid', clientSecret: 's' });
    expect(upstreams.all.map(({ name, callbackUrl }) => [name, callbackUrl])).toEqual([
      ['work', 'https://a.example/upstream/work/callback'],
    ]);
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
