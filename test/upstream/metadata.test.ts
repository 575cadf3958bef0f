import { describe, expect, it } from 'vitest';
import type { UpstreamFaultKind, UpstreamReason } from '../../src/upstream/upstream-fault.ts';
import { faults } from '../support/upstreams/front.ts';
import { faultOf, metadataPath, upstreamFor, useWork } from './subject.ts';

const at = useWork();

const hour = 3_600;

describe('metadata', () => {
  it.each<[string, () => void, UpstreamReason, UpstreamFaultKind]>([
    [
      'of another issuer',
      () => at.work.alter(metadataPath, (body) => ({ ...body, issuer: 'https://evil.example' })),
      'metadata_issuer',
      'refused',
    ],
    [
      'with a token endpoint on another host',
      () =>
        at.work.alter(metadataPath, (body) => ({ ...body, token_endpoint: 'https://evil.example/token' })),
      'metadata_endpoint_host',
      'refused',
    ],
    [
      'with keys on another port',
      () => at.work.alter(metadataPath, (body) => ({ ...body, jwks_uri: 'https://127.0.0.1:1/jwks' })),
      'metadata_endpoint_host',
      'refused',
    ],
    [
      'with a token endpoint that is not https',
      () => at.work.alter(metadataPath, (body) => ({ ...body, token_endpoint: 'http://idp.example/token' })),
      'metadata_endpoint_not_https',
      'refused',
    ],
    [
      'with a page to run in the browser',
      () =>
        at.work.alter(metadataPath, (body) => ({ ...body, authorization_endpoint: 'javascript:alert(1)' })),
      'metadata_endpoint_not_https',
      'refused',
    ],
    [
      'without a token endpoint',
      () => at.work.alter(metadataPath, ({ token_endpoint: _gone, ...rest }) => rest),
      'metadata_endpoint_missing',
      'refused',
    ],
    [
      'with an endpoint that is no URL',
      () => at.work.alter(metadataPath, (body) => ({ ...body, token_endpoint: '/token' })),
      'metadata_malformed',
      'refused',
    ],
    [
      'in broken JSON at each place',
      () => {
        for (const path of [metadataPath, '/.well-known/oauth-authorization-server'])
          at.work.fault(path, faults.notJson());
      },
      'metadata_malformed',
      'refused',
    ],
    [
      'that is not there',
      () => {
        for (const path of [metadataPath, '/.well-known/oauth-authorization-server'])
          at.work.fault(path, faults.page(404));
      },
      'metadata_missing',
      'refused',
    ],
    [
      'that is elsewhere',
      () => at.work.fault(metadataPath, faults.redirect('http://127.0.0.1:1/')),
      'redirected',
      'refused',
    ],
    ['without end', () => at.work.fault(metadataPath, faults.huge()), 'too_large', 'refused'],
    ['that never comes', () => at.work.fault(metadataPath, faults.silent()), 'timed_out', 'unavailable'],
    [
      'of a server that fails',
      () => at.work.fault(metadataPath, faults.page()),
      'server_error',
      'unavailable',
    ],
  ])(
    '%s begins no login, and stops nobody from asking again (T-088)',
    async (_what, arrange, reason, kind) => {
      const upstream = await at.clientToSee(reason);
      arrange();
      await at.expectRefused(upstream.begin(), reason, kind);
      at.work.behave();
      expect((await upstream.begin()).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/auth\?/);
    },
  );

  it('of a host at a private address is not asked for (T-088)', async () => {
    const settings = { ...at.work.settings(), issuer: 'https://10.0.0.1' };
    await at.expectRefused((await upstreamFor(settings)).begin(), 'address_not_public');
  });

  it('of this machine is not asked for where the operator does not say so (T-088)', async () => {
    const upstream = await upstreamFor(at.work.settings(), { dangerouslyFromLoopback: false });
    await at.expectRefused(upstream.begin(), 'not_https');
  });

  it('that differs in the slash at its end is taken, and its own spelling counts in a callback (FA-49)', async () => {
    const upstream = await upstreamFor({ ...at.work.settings(), issuer: `${at.work.issuer}/` });
    const { pending } = await upstream.begin();
    expect(upstream.issuer).toBe(`${at.work.issuer}/`);
    const callback = (iss: string) => new URLSearchParams({ code: 'c', state: pending.state, iss });
    const other = upstream.complete(callback(`${at.work.issuer}/`), pending);
    expect((await faultOf(other)).reason).toBe('callback_issuer');
    const own = upstream.complete(callback(at.work.issuer), pending);
    expect((await faultOf(own)).reason).not.toBe('callback_issuer');
  });

  it('is asked for once for many logins, and counts while the upstream is down', async () => {
    let now = 1_800_000_000;
    const upstream = await upstreamFor(at.work.settings(), { now: () => now });
    const before = at.work.count(metadataPath);
    await Promise.all(Array.from({ length: 20 }, () => upstream.begin()));
    expect(at.work.count(metadataPath) - before).toBe(1);
    now += 2 * hour;
    at.work.fault(metadataPath, faults.page(503));
    await upstream.begin();
    now += 24 * hour;
    await at.expectRefused(upstream.begin(), 'server_error', 'unavailable');
  });
});
