import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import { approve, authorization, redeem, register } from '../../support/oauth.ts';
import { expectAccepted, expectErrorPage } from '../../support/refusal.ts';
import { createVisitor } from '../../support/visitor.ts';

let gatehouse: RunningGatehouse;
let client: string;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  client = (await register(gatehouse.url)).client_id;
});
afterAll(() => gatehouse.stop());

function ask(parameters: Record<string, string | undefined>, extra = ''): Promise<Response> {
  return createVisitor().request(`${authorization(gatehouse, client, parameters).url}${extra}`);
}

describe('the response type', () => {
  it.each([
    'token',
    'id_token',
    'code token',
    'code id_token',
    'code id_token token',
    'none',
    'code code',
    'CODE',
    ' code',
    'code ',
    'x',
  ])('%j is unsupported: a page, no redirect, nothing in a fragment (T-009)', async (type) => {
    const before = await countIssued(gatehouse.folder);
    for (const prompt of [undefined, 'none'])
      await expectErrorPage(await ask({ response_type: type, prompt }), 'unsupported_response_type');
    expect(await countIssued(gatehouse.folder)).toEqual(before);
  });

  it.each([
    ['missing', undefined, ''],
    ['empty', '', ''],
    ['sent twice', 'code', '&response_type=code'],
  ])('that is %s is invalid_request (T-009)', async (_fault, type, extra) => {
    await expectErrorPage(await ask({ response_type: type }, extra), 'invalid_request');
  });
});

describe('the response mode', () => {
  it.each(['fragment', 'form_post', 'web_message', 'jwt', 'query.jwt', 'Query', ''])(
    '%j is not advertised and not served (T-011)',
    async (mode) => {
      const html = await expectErrorPage(await ask({ response_mode: mode }), 'invalid_request');
      expect(html).not.toContain('<form');
    },
  );

  it('sent twice is refused (T-011)', async () => {
    await expectErrorPage(
      await ask({ response_mode: 'query' }, '&response_mode=fragment'),
      'invalid_request',
    );
  });

  it('query is the one that is advertised, and may be asked for (T-011)', async () => {
    const metadata = await (await fetch(`${gatehouse.url}/.well-known/oauth-authorization-server`)).json();
    expect(metadata).toMatchObject({ response_modes_supported: ['query'] });
    expectAccepted(await ask({ response_mode: 'query' }), gatehouse.url);
  });
});

describe('the answer to the client', () => {
  it('holds code, state and iss once each, and no error (T-019, A6-07, A6-11)', async () => {
    const flow = authorization(gatehouse, client);
    const callback = await approve(flow);
    expect([...callback.searchParams.keys()].sort()).toEqual(['code', 'iss', 'state']);
    expect(callback.searchParams.get('iss')).toBe(gatehouse.url);
    expect(callback.searchParams.get('state')).toBe(flow.state);
    expect(callback.hash).toBe('');
  });

  it('names in iss exactly the issuer of the metadata, which says that it does (T-019, A4-08, A6-07)', async () => {
    const metadata = (await (
      await fetch(`${gatehouse.url}/.well-known/oauth-authorization-server`)
    ).json()) as { issuer: string };
    expect(metadata).toMatchObject({ authorization_response_iss_parameter_supported: true });
    const callback = await approve(authorization(gatehouse, client));
    expect(callback.searchParams.getAll('iss')).toEqual([metadata.issuer]);
  });

  it('that refuses holds error, state and iss once each, and no code (T-019, A6-07, A6-11)', async () => {
    const visitor = createVisitor();
    const flow = authorization(gatehouse, client);
    const page = await visitor.open(flow.url);
    const { response } = await visitor.submit(page, '/cancel', []);
    const callback = new URL(response.headers.get('location') ?? '');
    expect([...callback.searchParams.keys()].sort()).toEqual(['error', 'error_description', 'iss', 'state']);
    expect(callback.searchParams.get('error')).toBe('access_denied');
    expect(callback.searchParams.getAll('iss')).toEqual([gatehouse.url]);
    expect(callback.searchParams.get('state')).toBe(flow.state);
  });

  it('is denied with access_denied where the person denies, and nothing is issued (T-019)', async () => {
    const visitor = createVisitor();
    const flow = authorization(gatehouse, client);
    const consent = await visitor.submit(await visitor.open(flow.url), '/login', [
      ['email', ada.email],
      ['password', ada.password],
    ]);
    const before = await countIssued(gatehouse.folder);
    const { response } = await visitor.submit(consent, '/consent', [['decision', 'deny']]);
    const callback = new URL(response.headers.get('location') ?? '');
    expect(callback.searchParams.get('error')).toBe('access_denied');
    expect(callback.searchParams.has('code')).toBe(false);
    expect(callback.searchParams.get('iss')).toBe(gatehouse.url);
    expect(await countIssued(gatehouse.folder)).toEqual(before);
  });

  it('under prompt=none holds iss as well (T-019, A6-07)', async () => {
    const callback = new URL((await ask({ prompt: 'none' })).headers.get('location') ?? '');
    expect(callback.searchParams.getAll('iss')).toEqual([gatehouse.url]);
    expect(callback.searchParams.get('error')).toBe('login_required');
  });

  it('of another authorization server is of no use here, and ours is marked as ours (T-026)', async () => {
    const other = await startGatehouse();
    try {
      const theirs = (await register(other.url)).client_id;
      const flow = authorization(other, theirs);
      const callback = await approve(flow);
      expect(callback.searchParams.get('iss')).toBe(other.url);
      expect(callback.searchParams.get('iss')).not.toBe(gatehouse.url);
      const code = callback.searchParams.get('code') ?? '';
      const asUnknown = await redeem(gatehouse.url, flow, code);
      expect([asUnknown.status, await asUnknown.json()]).toMatchObject([401, { error: 'invalid_client' }]);
      const asOurs = await redeem(gatehouse.url, { ...flow, clientId: client }, code);
      expect([asOurs.status, await asOurs.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
      expect((await redeem(other.url, flow, code)).status).toBe(200);
    } finally {
      await other.stop();
    }
  });
});

describe('state', () => {
  const hostile = [
    ['8 KB of it', 'x'.repeat(8192)],
    ['line breaks', 'a\r\nSet-Cookie: stolen=1\r\n\r\n<html>'],
    ['quotes and markup', `"'><script>alert(1)</script><a href="javascript:alert(1)">`],
    ['reserved characters', 'a&code=forged&iss=https://evil.example#fragment %00 +;='],
    ['letters beyond ASCII', 'čaj 茶 🫖'],
  ] as const;

  it.each(hostile)('with %s comes back as it was, and nowhere into a page (T-020)', async (_what, state) => {
    const visitor = createVisitor();
    const flow = authorization(gatehouse, client, { state });
    const page = await visitor.open(flow.url);
    expect(page.response.headers.getSetCookie().join()).not.toContain('stolen');
    const consent = await visitor.submit(page, '/login', [
      ['email', ada.email],
      ['password', ada.password],
    ]);
    expect(`${page.html}${consent.html}`).not.toContain(state.slice(0, 40));
    const { response } = await visitor.submit(consent, '/consent', [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
    ]);
    expect(response.headers.getSetCookie().join()).not.toContain('stolen');
    const callback = new URL(response.headers.get('location') ?? '');
    expect(callback.searchParams.getAll('state')).toEqual([state]);
    expect(callback.searchParams.getAll('iss')).toEqual([gatehouse.url]);
    expect(callback.searchParams.getAll('code')).not.toEqual(['forged']);
    expect(callback.hash).toBe('');
  });

  it.each(hostile)('with %s stands escaped in the link of an error page (T-020)', async (_what, state) => {
    const html = await expectErrorPage(await ask({ state, scope: 'nonsense' }), 'invalid_scope');
    expect(html).not.toContain('<script');
    expect(html).not.toContain('javascript:');
    const link = /href="(http:\/\/127[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(new URL(link).searchParams.getAll('state')).toEqual([state]);
  });

  it('may be missing, and is then missing in the answer (T-020)', async () => {
    const callback = await approve(authorization(gatehouse, client, { state: undefined }));
    expect([...callback.searchParams.keys()].sort()).toEqual(['code', 'iss']);
  });

  it('sent twice is invalid_request (T-020)', async () => {
    await expectErrorPage(await ask({}, '&state=another'), 'invalid_request');
  });
});
