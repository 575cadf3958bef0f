import { describe, expect, it } from 'vitest';
import { entra } from '../../../src/upstream/presets/entra.ts';
import type { Upstream } from '../../../src/upstream/upstream.ts';
import { faults } from '../../support/upstreams/front.ts';
import { lin } from '../../support/upstreams/people.ts';
import { logIn, metadataPath, upstreamFor, useWork } from '../subject.ts';

const at = useWork();
const tenant = '11111111-2222-3333-4444-555555555555';

/** An upstream as Entra is for all tenants: its metadata has a placeholder where tokens have the tenant. */
async function sharedTenant(): Promise<Upstream> {
  const published = (await (await fetch(`${at.work.url}${metadataPath}`)).json()) as object;
  const issuer = `${at.work.url}/{tenantid}/v2.0`;
  at.work.fault(`/common/v2.0${metadataPath}`, faults.json(200, { ...published, issuer }));
  return upstreamFor(at.work.settings({ preset: 'entra', issuer: `${at.work.url}/common/v2.0` }));
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

  it('of all tenants logs in people of each, by the issuer of their own (T-089)', async () => {
    const upstream = await sharedTenant();
    const iss = `${at.work.url}/${tenant}/v2.0`;
    at.work.alterIdTokens((claims, key) => key.sign({ ...claims, iss, tid: tenant }));
    const { identity } = await logIn(upstream);
    expect([identity.issuer, identity.subject, identity.claims.tid]).toEqual([iss, lin.sub, tenant]);
  });

  it.each<[string, (url: string) => Record<string, unknown>]>([
    [
      'of another tenant than it says',
      (url) => ({ iss: `${url}/${tenant.replace('1', '9')}/v2.0`, tid: tenant }),
    ],
    ['of no tenant', (url) => ({ iss: `${url}/{tenantid}/v2.0`, tid: undefined })],
    ['of a tenant that is a path', (url) => ({ iss: `${url}/../x/v2.0`, tid: '../x' })],
  ])('of all tenants takes no token %s (T-085)', async (_what, claimsOf) => {
    const upstream = await sharedTenant();
    at.work.alterIdTokens((claims, key) => key.sign({ ...claims, ...claimsOf(at.work.url) }));
    await at.expectRefused(logIn(upstream), 'jwt_issuer');
  });
});
