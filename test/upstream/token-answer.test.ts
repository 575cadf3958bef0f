import { describe, expect, it } from 'vitest';
import type { UpstreamFaultKind, UpstreamReason } from '../../src/upstream/upstream-fault.ts';
import { createWalker } from '../support/upstreams/browse.ts';
import { faults } from '../support/upstreams/front.ts';
import { lin } from '../support/upstreams/people.ts';
import { useWork } from './subject.ts';

const at = useWork();

describe('a token endpoint', () => {
  it.each<[string, () => void, UpstreamReason, UpstreamFaultKind]>([
    ['with a page and 500', () => at.work.fault('/token', faults.page()), 'server_error', 'unavailable'],
    ['with a page and 400', () => at.work.fault('/token', faults.page(400)), 'token_no_object', 'refused'],
    ['with a page and 200', () => at.work.fault('/token', faults.page(200)), 'token_no_object', 'refused'],
    ['with 429', () => at.work.fault('/token', faults.page(429)), 'too_many_requests', 'unavailable'],
    ['with broken JSON', () => at.work.fault('/token', faults.notJson()), 'token_no_object', 'refused'],
    [
      'with a list',
      () => at.work.fault('/token', faults.json(200, ['canary'])),
      'token_no_object',
      'refused',
    ],
    [
      'with an access token of another kind',
      () => at.work.alter('/token', (body) => ({ ...body, token_type: 'DPoP' })),
      'token_malformed',
      'refused',
    ],
    [
      'without an access token',
      () => at.work.alter('/token', ({ access_token: _gone, ...rest }) => rest),
      'token_malformed',
      'refused',
    ],
    [
      'that does not know our secret',
      () =>
        at.work.fault('/token', faults.json(401, { error: 'invalid_client', error_description: 'canary' })),
      'client_refused',
      'refused',
    ],
    [
      'with an error of its own',
      () => at.work.fault('/token', faults.json(400, { error: 'canary', error_description: '<script>' })),
      'token_error',
      'refused',
    ],
    ['that never answers', () => at.work.fault('/token', faults.silent()), 'timed_out', 'unavailable'],
    [
      'that sends us elsewhere',
      () => at.work.fault('/token', faults.redirect('http://127.0.0.1:1/')),
      'redirected',
      'refused',
    ],
    ['that sends more than one reads', () => at.work.fault('/token', faults.huge()), 'too_large', 'refused'],
  ])('%s logs nobody in, and nothing it sent goes on (T-084)', async (_what, arrange, reason, kind) => {
    const upstream = await at.clientToSee(reason);
    const { url, pending } = await upstream.begin();
    const { searchParams } = await createWalker().walk(url, lin);
    arrange();
    const begun = performance.now();
    await at.expectRefused(upstream.complete(searchParams, pending), reason, kind);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});
