import { describe, expect, it } from 'vitest';
import { faults } from '../support/upstreams/front.ts';
import { lin } from '../support/upstreams/people.ts';
import { logIn, metadataPath, upstreamFor, useWork } from './subject.ts';

const at = useWork();

describe('tokens that are given back', () => {
  it('are dead: the refresh token goes, and with it the rest (T-093)', async () => {
    const upstream = await at.client();
    const { tokens } = await logIn(upstream);
    await upstream.revoke(tokens);
    expect(at.work.revoked).toEqual([tokens.refreshToken]);
    await at.expectRefused(upstream.refresh(tokens), 'grant_refused', 'ended');
  });

  it('are an access token where there is no more; none of them twice is no fault', async () => {
    const upstream = await at.client();
    const { tokens } = await logIn(upstream);
    const alone = { accessToken: tokens.accessToken, scopes: tokens.scopes };
    await upstream.revoke(alone);
    await upstream.revoke(alone);
    expect(at.work.revoked.slice(-2)).toEqual([tokens.accessToken, tokens.accessToken]);
    await at.expectRefused(upstream.check(tokens), 'user_info_refused', 'ended');
  });

  it('are kept to be given back another time where the upstream fails, or refuses', async () => {
    const upstream = await at.client();
    const { tokens } = await logIn(upstream);
    at.work.fault('/token/revocation', faults.page(503));
    await at.expectRefused(upstream.revoke(tokens), 'server_error', 'unavailable');
    at.work.fault('/token/revocation', faults.json(400, { error: 'canary' }));
    await at.expectRefused(upstream.revoke(tokens), 'revocation_refused');
  });

  it('go nowhere where the upstream has no way', async () => {
    at.work.alter(metadataPath, ({ revocation_endpoint: _none, ...rest }) => rest);
    const upstream = await upstreamFor(at.work.settings());
    const before = at.work.revoked.length;
    await upstream.revoke((await logIn(upstream, { person: lin })).tokens);
    expect(at.work.revoked).toHaveLength(before);
  });
});
