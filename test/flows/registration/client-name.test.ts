import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { authorization, obtainTokens, openConsent, redirectUri, register } from '../../support/oauth.ts';
import { expectErrorPage } from '../../support/refusal.ts';
import { createVisitor } from '../../support/visitor.ts';

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse();
});
afterAll(() => gatehouse.stop());

describe('a client name', () => {
  it.each([
    ['right-to-left override', 'Evil\u202Egpj.exe', 'Evilgpj.exe'],
    ['zero-width characters', 'Cla\u200Bu\u200Dde\uFEFF', 'Claude'],
    ['control characters and line breaks', 'A\u0000B\u001B[31mC\r\nD', 'AB[31mC D'],
    ['markup', '<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)&gt;'],
    ['quotes', '"\'><script>alert(1)</script>', '&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;'],
  ])('with %s is shown inert (T-060)', async (_what, name, shown) => {
    const { client_id: id } = await register(gatehouse.url, { client_name: name });
    const { html } = await openConsent(authorization(gatehouse, id), createVisitor());
    expect(html).toContain(`“${shown}”`);
    expect(html).not.toMatch(/<script|<img/);
    expect(html).not.toContain('\u202E');
  });

  it('is cut to 100 characters, floods of marks are stemmed, and it stays unverified (T-060)', async () => {
    for (const name of ['W'.repeat(200), `e${'\u0301'.repeat(150)}`]) {
      const { client_id: id } = await register(gatehouse.url, { client_name: name });
      const { html } = await openConsent(authorization(gatehouse, id), createVisitor());
      expect(html).not.toContain(name.slice(0, 101));
      expect(html).toContain('Not checked');
      expect(html).toContain('an app on this computer (127.0.0.1)');
    }
  });

  it('that another client has as well makes nobody that client: the page asks again, by its own redirect (T-060)', async () => {
    const visitor = createVisitor();
    await obtainTokens(gatehouse, {
      visitor,
      clientId: (await register(gatehouse.url, { client_name: 'Known' })).client_id,
    });
    const evil = 'https://evil.example/cb';
    const { client_id: id } = await register(gatehouse.url, { client_name: 'Known', redirect_uris: [evil] });
    const { html } = await openConsent(authorization(gatehouse, id, { redirect_uri: evil }), visitor);
    expect(html).toContain('<strong>evil.example</strong>');
    await expectErrorPage(
      await visitor.request(authorization(gatehouse, id, { redirect_uri: redirectUri }).url),
      'invalid_redirect_uri',
    );
  });
});
