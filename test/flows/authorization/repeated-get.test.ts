// Flows of src/authorization-server/endpoints/repeated-answers.ts: each GET that ends something.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { authorization, type Flow, openConsent, redeem, register } from '../../support/oauth.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { createWalker } from '../../support/upstreams/browse.ts';
import { type OpenIdUpstream, startOpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin } from '../../support/upstreams/people.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';
import { askForCode, claim, registerDevice } from '../device/subject.ts';

let gate: RunningGatehouse;
let work: OpenIdUpstream;
let client: string;
beforeAll(async () => {
  work = await startOpenIdUpstream();
  gate = await startGatehouse({
    dangerously: { upstreamsOverHttp: true },
    upstreams: { work: work.settings({ label: 'Work', accounts: { create: true } }) },
  });
  work.allow(`${gate.url}/upstream/work/callback`);
  client = (await register(gate.url)).client_id;
});
afterAll(async () => {
  await gate.stop();
  await work.stop();
});

/** Posts a form of a page and follows nothing: where the browser is sent. */
async function post(
  visitor: Visitor,
  page: { html: string; url: string },
  action: string,
  fields: [string, string][],
): Promise<string> {
  const csrf = /name="(?:csrf|xsrf)" value="([^"]*)"/.exec(
    page.html.split(`${action}"`)[1] ?? page.html,
  )?.[1];
  const target = /<form\b[^>]*action="([^"]*)"/g;
  const url = [...page.html.matchAll(target)]
    .map(([, each]) => each ?? '')
    .find((each) => each.endsWith(action));
  const answer = await visitor.request(url ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams([['csrf', csrf ?? ''], ...fields]).toString(),
  });
  return answer.headers.get('location') ?? '';
}

/** Where the browser is sent by Allow: the GET that gives the code. */
async function allowed(visitor: Visitor): Promise<{ url: string; flow: Flow }> {
  const flow = authorization(gate, client);
  const consent = await openConsent(flow, visitor);
  const url = await post(visitor, consent, '/consent', [
    ['decision', 'allow'],
    ['scope', 'notes:read'],
  ]);
  return { url, flow };
}

const codeOf = (answer: Response) => new URL(answer.headers.get('location') ?? '').searchParams.get('code');

describe('the GET that ends an authorization', () => {
  it.each([
    ['HEAD', { method: 'HEAD' }, 200],
    ['a prefetch', { headers: { 'sec-purpose': 'prefetch' } }, 503],
    ['a prerender', { headers: { 'sec-purpose': 'prefetch;prerender' } }, 503],
    ['a preview', { headers: { 'x-purpose': 'preview' } }, 503],
  ] as [string, RequestInit, number][])('is not used up by %s (FA-23)', async (_what, init, status) => {
    const visitor = createVisitor();
    const { url, flow } = await allowed(visitor);
    const ahead = await visitor.request(url, init);
    expect([ahead.status, ahead.headers.get('location')]).toEqual([status, null]);
    expect(ahead.headers.get('cache-control')).toBe('no-store');
    const code = codeOf(await visitor.request(url));
    expect((await redeem(gate.url, flow, code ?? '')).status).toBe(200);
  });

  it('gives the same browser the same redirect again, one after another and at once (FA-23)', async () => {
    const visitor = createVisitor();
    const { url } = await allowed(visitor);
    const first = visitor.copy();
    const answers = await Promise.all([first.request(url), visitor.request(url)]);
    answers.push(await visitor.request(url));
    const locations = answers.map((each) => each.headers.get('location'));
    expect(new Set(locations).size).toBe(1);
    expect(codeOf(answers[0] as Response)).toBeTruthy();
  });

  it('gives nothing to another browser that has the address (FA-23, T-015)', async () => {
    const visitor = createVisitor();
    const { url } = await allowed(visitor);
    await visitor.request(url);
    const answer = await createVisitor().request(url);
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
  });

  it('gives the step behind a login again, with the cookies that it needs (FA-23)', async () => {
    const visitor = createVisitor();
    const login = await visitor.open(authorization(gate, client).url);
    const url = await post(visitor, login, '/login', [
      ['email', ada.email],
      ['password', ada.password],
    ]);
    // The first answer is lost on its way: none of its cookies arrives.
    const lost = visitor.copy();
    const first = await lost.request(url);
    const { response, html } = await visitor.open(url);
    expect(response.status).toBe(200);
    expect(html).toContain('name="decision"');
    expect(first.status).toBe(303);
  });
});

describe('the GET that ends the login of a device', () => {
  it('is not used up by HEAD, and can be sent again (FA-23)', async () => {
    const visitor = createVisitor();
    const asked = await askForCode(gate, await registerDevice(gate.url, {}));
    const consent = await claim(asked, visitor);
    const url = await post(visitor, consent, '/consent', [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
    ]);
    expect((await visitor.request(url, { method: 'HEAD' })).status).toBe(200);
    const [one, two] = [await visitor.request(url), await visitor.request(url)];
    expect(one.headers.get('location')).toBe(`${gate.url}/device/done`);
    expect(two.headers.get('location')).toBe(one.headers.get('location'));
  });
});

describe('the callback of an upstream', () => {
  it('is not used up by HEAD or a prefetch, and gives the same browser the same redirect again (FA-23)', async () => {
    const visitor = createVisitor();
    const login = await visitor.open(authorization(gate, client).url);
    const approve = await visitor.submit(login, '/upstream', [['upstream', 'work']]);
    const there = await post(visitor, approve, '/approve', [
      ['decision', 'allow'],
      ['upstream', 'work'],
      ['scope', 'notes:read'],
    ]);
    const url = (await createWalker().walk(there, lin)).href;
    expect((await visitor.request(url, { method: 'HEAD' })).status).toBe(200);
    expect((await visitor.request(url, { headers: { 'sec-purpose': 'prefetch' } })).status).toBe(503);
    const both = [() => visitor.copy().request(url), () => visitor.request(url)] as const;
    // Two nodes that are asked at once do not know what the other one is about to answer.
    const [one, two] =
      nodeCount === 1 ? await Promise.all([both[0](), both[1]()]) : [await both[0](), await both[1]()];
    expect(one.status).toBe(303);
    expect(two.headers.get('location')).toBe(one.headers.get('location'));
    expect(work.count('/token')).toBe(1);
    expect((await createVisitor().request(url)).status).toBe(400);
  });
});
