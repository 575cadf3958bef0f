import { describe, expect, it } from 'vitest';
import { slack } from '../../../src/upstream/presets/slack.ts';
import { faults } from '../../support/upstreams/front.ts';
import { lin } from '../../support/upstreams/people.ts';
import { faultOf, logIn, upstreamFor, useWork } from '../subject.ts';

const at = useWork();
/** Slack, in its manner, at the place of a provider that follows the standard. */
const client = () =>
  upstreamFor(at.work.settings({ preset: 'slack', revocationEndpoint: `${at.work.url}/api/auth.revoke` }));

describe('Slack', () => {
  it('says ok in all it sends', async () => {
    at.work.alter('/token', (body) => ({ ok: true, ...body }));
    at.work.alter('/me', (body) => ({ ok: true, ...body }));
    expect((await logIn(await client())).identity.subject).toBe(lin.sub);
    expect(slack.defaults.issuer).toBe('https://slack.com');
  });

  it.each([
    ['invalid_code', 'grant_refused', 'refused'],
    ['bad_client_secret', 'client_refused', 'refused'],
    ['ratelimited', 'server_error', 'unavailable'],
    ['canary', 'token_error', 'refused'],
  ])('says %s with status 200, which is %s (T-084)', async (error, reason, kind) => {
    at.work.fault('/token', faults.json(200, { ok: false, error }));
    const fault = await faultOf(logIn(await client()));
    expect([fault.reason, fault.kind]).toEqual([reason, kind]);
    expect(fault.message).not.toContain('canary');
  });

  it.each([
    ['token_revoked', 'ended'],
    ['account_inactive', 'ended'],
    ['fatal_error', 'unavailable'],
  ])('says %s of a token with status 200, which is %s (T-090)', async (error, kind) => {
    const upstream = await client();
    const { tokens } = await logIn(upstream);
    at.work.fault('/me', faults.json(200, { ok: false, error }));
    expect((await faultOf(upstream.check(tokens))).kind).toBe(kind);
  });

  it('takes tokens back in its own way', async () => {
    const upstream = await client();
    const { tokens } = await logIn(upstream);
    let bearer: string | undefined;
    at.work.fault('/api/auth.revoke', (request, response) => {
      bearer = request.headers.authorization;
      response.end('{"ok":true,"revoked":true}');
    });
    await upstream.revoke(tokens);
    expect(bearer).toBe(`Bearer ${tokens.accessToken}`);
    at.work.fault('/api/auth.revoke', faults.json(200, { ok: false, error: 'token_revoked' }));
    await upstream.revoke(tokens);
    at.work.fault('/api/auth.revoke', faults.json(200, { ok: false, error: 'fatal_error' }));
    expect((await faultOf(upstream.revoke(tokens))).reason).toBe('revocation_refused');
  });
});
