import { describe, expect, it } from 'vitest';
import type { UpstreamFaultKind, UpstreamReason } from '../../src/upstream/upstream-fault.ts';
import { createWalker } from '../support/upstreams/browse.ts';
import { lin, omar } from '../support/upstreams/people.ts';
import { logIn, useWork } from './subject.ts';

const at = useWork();

describe('a callback', () => {
  it.each<[string, (url: URL) => void, UpstreamReason]>([
    [
      'with another iss (T-087)',
      (url) => url.searchParams.set('iss', 'https://evil.example'),
      'callback_issuer',
    ],
    [
      'without the iss its metadata promises (T-087)',
      (url) => url.searchParams.delete('iss'),
      'callback_issuer_missing',
    ],
    ['with another state (T-080)', (url) => url.searchParams.set('state', 'x'), 'callback_state'],
    ['without a state (T-080)', (url) => url.searchParams.delete('state'), 'callback_state'],
    ['with two states', (url) => url.searchParams.append('state', 'x'), 'callback_malformed'],
    ['with two codes', (url) => url.searchParams.append('code', 'x'), 'callback_malformed'],
    ['without code and error', (url) => url.searchParams.delete('code'), 'callback_malformed'],
  ])('%s is refused before any token is asked for', async (_what, change, reason) => {
    const before = at.work.count('/token');
    const doing = logIn(await at.client(), {
      callback(url) {
        change(url);
        return url.searchParams;
      },
    });
    await at.expectRefused(doing, reason);
    expect(at.work.count('/token')).toBe(before);
  });

  it.each<[string, UpstreamReason, UpstreamFaultKind]>([
    ['access_denied', 'denied', 'refused'],
    ['temporarily_unavailable', 'server_error', 'unavailable'],
    ['server_error', 'server_error', 'unavailable'],
    ['invalid_scope', 'callback_error', 'refused'],
    ['<script>alert(1)</script>', 'callback_error', 'refused'],
  ])('with the error %s is what it says, and no text of it goes on (T-084)', async (error, reason, kind) => {
    const upstream = await at.client();
    const { pending } = await upstream.begin();
    const callback = new URLSearchParams({
      error,
      error_description: 'canary <script>',
      state: pending.state,
      iss: at.work.issuer,
    });
    await at.expectRefused(upstream.complete(callback, pending), reason, kind);
  });

  it('of somebody who says no there is a denial (T-084)', async () => {
    const upstream = await at.client();
    const { url, pending } = await upstream.begin({ prompt: 'consent' });
    const back = await createWalker()
      .walk(url, omar, 'deny')
      .catch((error) => error);
    // The login page has no button to say no: the consent page behind it has.
    await at.expectRefused(upstream.complete(back.searchParams, pending), 'denied');
  });

  it('with the code of another login is refused: it has another verifier (T-083)', async () => {
    const upstream = await at.client();
    const mine = await upstream.begin();
    const theirs = await upstream.begin();
    const back = await createWalker().walk(theirs.url, omar);
    back.searchParams.set('state', mine.pending.state);
    await at.expectRefused(upstream.complete(back.searchParams, mine.pending), 'grant_refused');
  });

  it('that comes twice is refused: the code was used', async () => {
    const upstream = await at.client();
    const { url, pending } = await upstream.begin();
    const { searchParams } = await createWalker().walk(url, lin);
    await upstream.complete(searchParams, pending);
    await at.expectRefused(upstream.complete(searchParams, pending), 'grant_refused');
  });
});
