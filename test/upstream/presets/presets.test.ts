import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../../src/options.ts';
import { withPreset } from '../../../src/upstream/presets/presets.ts';
import type { UpstreamSettings } from '../../../src/upstream/upstream-settings.ts';

const proof = { clientId: 'c', clientSecret: 's' };
const set = (given: object): UpstreamSettings =>
  parseSettings({ upstreams: { a: { ...proof, ...given } } } as object).upstreams.a as UpstreamSettings;

describe('a preset', () => {
  it('fills in what the operator left out', () => {
    const { settings, preset } = withPreset('a', set({ preset: 'github' }));
    expect(preset.label).toBe('GitHub');
    expect(settings).toMatchObject({
      tokenEndpoint: 'https://github.com/login/oauth/access_token',
      scopes: ['read:user', 'user:email'],
      userInfo: { subject: 'id' },
    });
  });

  it('stands behind what the operator set', () => {
    const given = { preset: 'google', scopes: ['openid'], authorizationParameters: { hd: 'work.example' } };
    expect(withPreset('a', set(given)).settings).toMatchObject({
      issuer: 'https://accounts.google.com',
      scopes: ['openid'],
      authorizationParameters: { access_type: 'offline', hd: 'work.example' },
    });
  });

  it('leaves another issuer its own endpoints', () => {
    const given = { preset: 'slack', issuer: 'https://slack-gov.com' };
    const { settings } = withPreset('a', set(given));
    expect([settings.issuer, settings.revocationEndpoint]).toEqual(['https://slack-gov.com', undefined]);
  });

  it('is none where none is named: the standard, under the name in the settings', () => {
    const openId = withPreset('work', set({ issuer: 'https://idp.example' }));
    expect([openId.preset.label, openId.settings.scopes]).toEqual(['work', ['openid', 'profile', 'email']]);
    const endpoints = {
      authorizationEndpoint: 'https://hub.example/authorize',
      tokenEndpoint: 'https://hub.example/token',
      userInfoEndpoint: 'https://hub.example/user',
      userInfo: { subject: 'id' },
    };
    expect(withPreset('hub', set(endpoints)).settings.scopes).toEqual([]);
  });
});
