import { describe, expect, it } from 'vitest';
import { clientSettings } from '../../src/settings/clients.ts';

describe('the settings of clients', () => {
  it('let anybody register, and believe nobody more than that', () => {
    const { tolerances, ...rest } = clientSettings.parse(undefined);
    expect(rest).toEqual({
      preRegistered: [],
      clientCredentials: false,
      registration: 'open',
      sealedIds: false,
      redirectSchemes: [],
      metadataDocuments: { enabled: 'auto', allowedHosts: [], deniedHosts: [] },
    });
    expect(Object.keys(tolerances)).not.toHaveLength(0);
    expect(Object.values(tolerances)).not.toContain(false);
  });

  it.each(['ms-msdt', 'javascript', 'myapp:', 'my app', ''])(
    'allow no redirect scheme that runs or opens something, or is none: %j (FA-11, T-214)',
    (scheme) => {
      expect(clientSettings.safeParse({ redirectSchemes: [scheme] }).success).toBe(false);
    },
  );

  it('take a client of the operator as public, for codes, unless it says more', () => {
    const [client] = clientSettings.parse({ preRegistered: [{ clientId: 'ci', name: 'CI' }] }).preRegistered;
    expect(client).toEqual({
      clientId: 'ci',
      name: 'CI',
      redirectUris: [],
      authMethod: 'none',
      grantTypes: ['authorization_code', 'refresh_token'],
    });
  });

  it('keep hosts as they are compared', () => {
    const { metadataDocuments } = clientSettings.parse({
      metadataDocuments: { deniedHosts: ['Evil.Example'] },
    });
    expect(metadataDocuments.deniedHosts).toEqual(['evil.example']);
  });

  it.each([
    { registration: 'everybody' },
    { preRegistered: [{ clientId: 'ci' }] },
    { preRegistered: [{ clientId: 'ci', name: 'CI', secret: 'plain' }] },
    { preRegistered: [{ clientId: 'ci', name: 'CI', grantTypes: ['implicit'] }] },
    { preRegistered: [{ clientId: 'ci', name: 'CI', secretExpires: 'tomorrow' }] },
    { metadataDocuments: { allowedHosts: ['https://a.example'] } },
    { tolerances: { everything: true } },
  ])('refuse %j', (value) => {
    expect(clientSettings.safeParse(value).success).toBe(false);
  });
});
