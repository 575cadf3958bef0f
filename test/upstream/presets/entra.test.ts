import { describe, expect, it } from 'vitest';
import { entra } from '../../../src/upstream/presets/entra.ts';
import { lin } from '../../support/upstreams/people.ts';
import { faultOf, logIn, metadataPath, upstreamFor, useWork } from '../subject.ts';

const at = useWork();
const tenant = '11111111-2222-3333-4444-555555555555';

/** An upstream as Entra is for all tenants: its metadata has a placeholder where tokens have the tenant. */
async function sharedTenant(tokens: (template: string) => Record<string, unknown>) {
  const template = 'https://login.microsoftonline.com/{tenantid}/v2.0';
  at.work.alter(metadataPath, (body) => ({ ...body, issuer: template }));
  at.work.alterIdTokens((claims, key) => key.sign({ ...claims, ...tokens(template) }));
  const { issuer, ...settings } = at.work.settings();
  return upstreamFor({
    ...settings,
    preset: 'entra',
    issuer: `${issuer}/common/v2.0`,
  });
}

describe('Entra', () => {
  it('has the issuer of a tenant in its tokens, and a placeholder in the metadata of all', () => {
    const common = 'https://login.microsoftonline.com/common/v2.0';
    const template = 'https://login.microsoftonline.com/{tenantid}/v2.0';
    const own = `https://login.microsoftonline.com/${tenant}/v2.0`;
    expect(entra.metadataIssuerOf?.(common)).toBe(template);
    expect(entra.metadataIssuerOf?.(own)).toBe(own);
    expect(entra.issuerOf?.(template, { tid: tenant })).toBe(own);
    expect(entra.issuerOf?.(own, { tid: 'another' })).toBe(own);
    for (const tid of [undefined, '', '../x', 'evil.example/', 7])
      expect(entra.issuerOf?.(template, { tid })).toBeUndefined();
  });

  it('is not sent a resource, nor asked who somebody is: its access tokens are for APIs', async () => {
    const upstream = await upstreamFor(at.work.settings({ preset: 'entra' }));
    const { url } = await upstream.begin();
    expect(new URL(url).searchParams.has('resource')).toBe(false);
    const before = at.work.count('/me');
    const { identity } = await logIn(upstream);
    expect([identity.subject, at.work.count('/me')]).toEqual([lin.sub, before]);
    expect(await upstream.check({ accessToken: 'a', scopes: [] })).toBe(false);
  });

  it('with tokens of a tenant under the metadata of all is not taken for another issuer (T-088)', async () => {
    const upstream = await sharedTenant((template) => ({ tid: tenant, iss: template }));
    // Its metadata says login.microsoftonline.com, and is not there.
    expect((await faultOf(upstream.begin())).reason).toBe('metadata_missing');
  });
});
