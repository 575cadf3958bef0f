import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import { approve, authorization, type Flow, openConsent, redeem, register } from '../../support/oauth.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';

let gatehouse: RunningGatehouse;
let client: string;
let number = 0;
let person: { email: string; password: string };
let visitor: Visitor;
let flow: Flow;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  client = (await register(gatehouse.url)).client_id;
});
afterAll(() => gatehouse.stop());
beforeEach(async () => {
  person = { email: `person${number++}@example.com`, password: 'a password of hers' };
  await gatehouse.administration.accounts.add(person.email, person.password);
  visitor = createVisitor();
  flow = authorization(gatehouse, client);
});

const changes: [string, () => Promise<void>][] = [
  ['removed', () => gatehouse.administration.accounts.remove(person.email)],
  ['disabled', () => gatehouse.administration.accounts.disable(person.email)],
  [
    'given another password',
    () => gatehouse.administration.accounts.setPassword(person.email, 'another password'),
  ],
];

describe.each(changes)('an account that is %s', (_what, change) => {
  it('while the consent page is open gets no code (T-027)', async () => {
    const page = await openConsent(flow, visitor, person);
    await change();
    const before = await countIssued(gatehouse.folder);
    const { response, html } = await visitor.submit(page, '/consent', [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
    ]);
    expect(response.status).toBeLessThan(500);
    expect(response.headers.get('location') ?? '').not.toContain('code=');
    expect(html).not.toContain('value="allow"');
    expect(await countIssued(gatehouse.folder)).toMatchObject({ codes: before.codes, grants: before.grants });
  });

  it('between consent and code gets no code (T-027)', async () => {
    const page = await openConsent(flow, visitor, person);
    const csrf = /action="[^"]*\/consent"[\s\S]*?name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
    const posted = await visitor.request(`${page.url}/consent`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: `csrf=${encodeURIComponent(csrf)}&decision=allow&scope=notes%3Aread`,
    });
    expect(posted.status).toBe(303);
    await change();
    const resumed = await visitor.request(posted.headers.get('location') ?? '');
    expect(resumed.status).toBeLessThan(500);
    expect(resumed.headers.get('location') ?? '').not.toContain('code=');
    expect((await countIssued(gatehouse.folder)).codes).toBe(0);
  });

  it('between code and token gets no token: invalid_grant (T-027)', async () => {
    const code = (await approve(flow, { visitor, person })).searchParams.get('code') ?? '';
    await change();
    const response = await redeem(gatehouse.url, flow, code);
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
  });

  it('is logged out everywhere (T-027)', async () => {
    await approve(flow, { visitor, person });
    await change();
    const { url } = authorization(gatehouse, client, { prompt: 'none' });
    const response = await visitor.request(url);
    expect(new URL(response.headers.get('location') ?? '').searchParams.get('error')).toBe('login_required');
    const { html } = await visitor.open(authorization(gatehouse, client).url);
    expect(html).toContain('name="password"');
  });
});
