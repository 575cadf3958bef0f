import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../src/options.ts';

const work = { issuer: 'https://idp.example.com', clientId: 'gatehouse', clientSecret: 's' };
const plain = {
  clientId: 'gatehouse',
  clientSecretFile: 'secret',
  authorizationEndpoint: 'https://hub.example/authorize',
  tokenEndpoint: 'https://hub.example/token',
  userInfoEndpoint: 'https://hub.example/user',
  userInfo: { subject: 'id' },
};

describe('the setting for upstreams', () => {
  it('names none unless the operator does, and lets nobody in who has no account (T-089)', () => {
    expect(parseSettings({}).upstreams).toEqual({});
    expect(parseSettings({ upstreams: { work } }).upstreams.work).toEqual({
      ...work,
      authorizationParameters: {},
      callerClaims: [],
      apiHosts: [],
      allowPrivateNetwork: false,
      login: true,
      domains: [],
      resources: [],
      accounts: { create: false, linkByVerifiedEmail: [] },
      checkSeconds: 300,
      graceSeconds: 3_600,
      unverifiableSeconds: 28_800,
    });
  });

  it.each([
    { hub: plain },
    { google: { preset: 'google' as const, clientId: 'c', clientKeyFile: 'key.pem' } },
    { work: { ...work, preset: 'entra' as const } },
  ])('takes an issuer, or endpoints, or a preset: %j (A10-01)', (upstreams) => {
    expect(Object.keys(parseSettings({ upstreams }).upstreams)).toEqual(Object.keys(upstreams));
  });

  it.each([
    [{ ...work, issuer: undefined }, /upstreams\.work\.issuer: is needed, or a preset/],
    [{ ...plain, userInfo: undefined }, /upstreams\.work\.userInfo: is needed for an upstream without/],
    [{ ...work, issuer: undefined, preset: 'okta' }, /issuer: is needed with the preset okta/],
    [{ ...work, clientSecret: undefined }, /clientSecretFile: needs to be set, or clientSecret/],
    [{ ...work, clientKeyFile: 'k' }, /clientSecretFile: needs to be set, or clientSecret/],
    [{ ...work, issuer: 'http://idp.example.com' }, /issuer: must be an https URL/],
    [{ ...work, issuer: 'https://u:p@idp.example.com' }, /issuer: must be an https URL/],
    [{ ...work, issuer: 'http://127.0.0.1:9000' }, /work\.issuer: must begin with https:.*upstreamsOverHttp/],
    [{ ...work, authorizationParameters: { state: 'x' } }, /state: is set by this server itself/],
    [{ ...work, apiHosts: ['https://api.example.com'] }, /apiHosts\.0: must be a host/],
    [
      { ...work, accounts: { linkByVerifiedEmail: ['Work.example'] } },
      /linkByVerifiedEmail\.0: must be a dom/,
    ],
    [
      { ...work, accounts: { creat: true } },
      /accounts\.creat: there is no such setting; did you mean create/,
    ],
    [{ ...work, isuer: 'x' }, /upstreams\.work\.isuer: there is no such setting; did you mean issuer\?/],
  ])('refuses %j (T-088)', (entry, problem) => {
    expect(() => parseSettings({ upstreams: { work: entry } } as object)).toThrow(problem);
  });

  it('refuses a name that is no part of a path', () => {
    expect(() => parseSettings({ upstreams: { 'a/b': work } })).toThrow(/upstreams\.a\/b/);
  });

  it('takes http on this machine under dangerously alone, and that for development alone (T-088)', () => {
    const upstreams = { work: { ...work, issuer: 'http://127.0.0.1:9000' } };
    const dangerously = { upstreamsOverHttp: true };
    expect(parseSettings({ upstreams, dangerously }).upstreams.work?.issuer).toBe('http://127.0.0.1:9000');
    expect(() => parseSettings({ upstreams, dangerously, publicUrl: 'https://mcp.example' })).toThrow(
      /dangerously\.upstreamsOverHttp: is for development/,
    );
  });
});
