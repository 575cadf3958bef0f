// The account pages:
// src/authorization-server/account/account-pages.ts
// src/authorization-server/account/account-server.ts
// src/authorization-server/account/account-request.ts
// src/authorization-server/account/overview-page.ts
// src/authorization-server/account/connected-apps.ts
// src/authorization-server/account/account-request.ts
// src/authorization-server/views/account/overview.ts
// src/authorization-server/views/display-text.ts
// src/mcp/legacy/account-sessions.ts
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import {
  authorization,
  obtainTokens,
  openConsent,
  refresh,
  register,
  tryAccess,
} from '../../support/oauth.ts';
import { grace } from '../../support/served.ts';
import { createVisitor } from '../../support/visitor.ts';
import { idsIn, openAccount, submitWithId } from './support/account.ts';
import { slowServer, startApp } from './support/running-app.ts';

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse({ server: slowServer });
  await gatehouse.administration.accounts.add(grace.email, grace.password);
});
afterAll(() => gatehouse.stop());

async function within(ms: number, what: Promise<void>): Promise<'in time' | 'too late'> {
  return Promise.race([what.then(() => 'in time' as const), sleep(ms).then(() => 'too late' as const)]);
}

/** The id under which a page ends the app with this client id. */
function appId(html: string, clientId: string): string {
  const entry = html.split('<li class="item">').find((part) => part.includes(clientId)) ?? '';
  return idsIn(entry, '/account/apps')[0] ?? '';
}

describe('a connected app', () => {
  it('stands on the account page with who it is, what it may do in words, and when it was used', async () => {
    const visitor = createVisitor();
    const { client_id } = await register(gatehouse.url, { client_name: 'Ada’s <notes>' });
    await obtainTokens(gatehouse, { visitor, clientId: client_id, scopes: ['notes:read'] });
    const { html } = await openAccount(gatehouse, { visitor });
    expect(html).toContain('“Ada’s &lt;notes&gt;”');
    expect(html).toContain(client_id);
    expect(html).toContain('The app chose this name itself.');
    expect(html).toMatch(/<li>Read\. /);
    expect(html).not.toMatch(/<li>Write\. /);
    expect(html).toMatch(/Since \w{3} \d+, \d{4}/);
    expect(html).toMatch(/Last used: \w{3} \d+, \d{4}/);
    expect(html).toMatch(/Ends on \w{3} \d+, \d{4}/);
  });

  it.each(['openid notes:read', 'openid'])(
    'that asked for %s and may use only what needs no permission stands there with the server, and can be ended at its next consent',
    async (scope) => {
      const person = { email: `${scope.length}@example.com`, password: 'the first password' };
      await gatehouse.administration.accounts.add(person.email, person.password);
      const visitor = createVisitor();
      const { clientId, tokens } = await obtainTokens(gatehouse, { visitor, person, scope, scopes: [] });
      expect(tokens.scope).not.toContain('notes');
      expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
      const { html } = await openAccount(gatehouse, { visitor, person });
      expect(html).toMatch(
        /<li>Use everything that needs no permission <span class="detail">localhost:\d+<\/span><\/li>/,
      );
      expect(html).not.toContain('no specific permission');
      const [grant] = await gatehouse.administration.grants.list({ email: person.email });
      expect(grant?.resources).toEqual({ [gatehouse.mcpUrl]: [] });

      const again = await openConsent(authorization(gatehouse, clientId, { scope }), visitor, person);
      await visitor.submit(again, '/consent', [
        ['decision', 'allow'],
        ['scope', 'notes:read'],
        ['end_earlier', 'yes'],
      ]);
      expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
    },
  );

  it('is asked about before it is ended, and the page tells that it was (FA-61)', async () => {
    const visitor = createVisitor();
    const { clientId, tokens } = await obtainTokens(gatehouse, { visitor });
    const page = await openAccount(gatehouse, { visitor });
    const id = appId(page.html, clientId);
    const asked = await visitor.open(`${gatehouse.url}/account/apps`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({
        csrf: /name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '',
        id,
      }).toString(),
    });
    expect(asked.html).toContain('End the access of A test client?');
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
    const after = await visitor.submit(asked, '/apps', [['confirm', 'yes']]);
    expect(after.html).toContain('The app no longer has access.');
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
    const { html } = await visitor.open(`${gatehouse.url}/account?ended=<script>`);
    expect(html).not.toContain('role="status"');
  });

  it('that is ended loses its tokens, its open stream and its running call within a second; others go on (T-124)', async () => {
    const visitor = createVisitor();
    const ended = await obtainTokens(gatehouse, { visitor });
    const other = await obtainTokens(gatehouse, { visitor });
    const page = await openAccount(gatehouse, { visitor });
    const app = await startApp(gatehouse, ended.tokens.access_token);
    const staying = await startApp(gatehouse, other.tokens.access_token);
    await app.call.waitFor(/progress/);
    const id = appId(page.html, ended.clientId);
    const after = await submitWithId(visitor, page, '/apps', id);
    expect(
      await within(
        1000,
        Promise.all([app.stream.ended, app.call.ended]).then(() => undefined),
      ),
    ).toBe('in time');
    expect(after.html).not.toContain(ended.clientId);
    expect(after.html).toContain(other.clientId);
    expect(await tryAccess(gatehouse.mcpUrl, ended.tokens.access_token)).toBe(401);
    const refused = await refresh(gatehouse.url, ended.clientId, ended.tokens.refresh_token);
    expect(await refused.json()).toMatchObject({ error: 'invalid_grant' });
    expect(await tryAccess(gatehouse.mcpUrl, other.tokens.access_token)).toBe(200);
    expect(await within(300, staying.stream.ended)).toBe('too late');
    staying.stream.leave();
    staying.call.leave();
  });

  it('that is ended takes its own MCP sessions along, and no other install of the same app loses one', async () => {
    const person = { email: 'installs@example.com', password: 'the first password' };
    await gatehouse.administration.accounts.add(person.email, person.password);
    const visitor = createVisitor();
    const laptop = await obtainTokens(gatehouse, { visitor, person });
    const { clientId } = laptop;
    const earlier = idsIn((await openAccount(gatehouse, { visitor, person })).html, '/account/apps');
    const desktop = await obtainTokens(gatehouse, { visitor, person, clientId });
    const apps = [
      await startApp(gatehouse, laptop.tokens.access_token),
      await startApp(gatehouse, desktop.tokens.access_token),
    ];
    const page = await openAccount(gatehouse, { visitor, person });
    expect(idsIn(page.html, '/account/connections')).toHaveLength(2);
    const after = await submitWithId(visitor, page, '/apps', earlier[0] ?? '');
    expect(idsIn(after.html, '/account/apps')).toHaveLength(1);
    expect(idsIn(after.html, '/account/connections')).toHaveLength(1);
    await apps[0]?.stream.ended;
    expect(await within(300, apps[1]?.stream.ended ?? Promise.resolve())).toBe('too late');
    for (const { stream, call } of apps) {
      stream.leave();
      call.leave();
    }
  });

  it('that is ended leaves the session to a newer login of the app that uses it by now', async () => {
    const person = { email: 'again@example.com', password: 'the first password' };
    await gatehouse.administration.accounts.add(person.email, person.password);
    const visitor = createVisitor();
    const first = await obtainTokens(gatehouse, { visitor, person });
    const app = await startApp(gatehouse, first.tokens.access_token);
    const before = await openAccount(gatehouse, { visitor, person });
    const again = await obtainTokens(gatehouse, { visitor, person, clientId: first.clientId });
    const used = await fetch(gatehouse.mcpUrl, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${again.tokens.access_token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': app.session,
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'p', method: 'ping' }),
    });
    expect(used.status).toBe(200);
    const [id = ''] = idsIn(before.html, '/account/apps');
    const after = await submitWithId(visitor, before, '/apps', id);
    expect(idsIn(after.html, '/account/connections')).toHaveLength(1);
    await app.stream.ended;
    app.call.leave();
  });

  it('of somebody else is as unknown as one that does not exist', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const ada = await openAccount(gatehouse);
    const mine = idsIn(ada.html, '/account/apps').at(0) ?? '';
    const page = await openAccount(gatehouse, { person: grace });
    const answers = await Promise.all([
      submitWithId(page.visitor, page, '/apps', mine),
      submitWithId(page.visitor, page, '/apps', 'nothing'),
    ]);
    const [theirs, none] = answers.map(({ response, html }) => [
      response.status,
      html.replace(/[0-9a-f-]{36}/g, ''),
    ]);
    expect(theirs).toEqual(none);
    expect(theirs?.[0]).toBe(404);
    expect(theirs?.[1]).toContain('This is no longer there');
    expect(theirs?.[1]).toContain(`href="${gatehouse.url}/account"`);
    expect(page.html).not.toContain(clientId);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
  });

  it('that was denied while it has a session leaves the page to its person, who can end the session', async () => {
    const visitor = createVisitor();
    const person = { email: 'denied@example.com', password: 'the first password' };
    await gatehouse.administration.accounts.add(person.email, person.password);
    const { clientId, tokens } = await obtainTokens(gatehouse, { visitor, person });
    const app = await startApp(gatehouse, tokens.access_token);
    await gatehouse.administration.clients.deny(clientId);
    await Promise.all([app.stream.ended, app.call.ended]);
    const page = await openAccount(gatehouse, { visitor });
    const [session = ''] = idsIn(page.html, '/account/connections');
    const after = await submitWithId(visitor, page, '/connections', session);
    expect(after.response.status).toBe(200);
    expect(idsIn(after.html, '/account/connections')).toEqual([]);
  });

  it('is ended by a form of this page alone: not by GET, not without its token, not from another site (T-014)', async () => {
    const visitor = createVisitor();
    const { clientId, tokens } = await obtainTokens(gatehouse, { visitor });
    const page = await openAccount(gatehouse, { visitor });
    const id = appId(page.html, clientId);
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
    const attempt = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
      visitor.request(`${gatehouse.url}/account/apps`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: new URLSearchParams(fields).toString(),
      });
    expect((await visitor.request(`${gatehouse.url}/account/apps?id=${id}`)).status).toBe(405);
    const refused = await attempt({ id });
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining(`href="${gatehouse.url}/account"`),
    ]);
    expect((await attempt({ id, csrf: 'x'.repeat(csrf.length) })).status).toBe(403);
    expect((await attempt({ id, csrf, confirm: 'yes' }, { 'sec-fetch-site': 'cross-site' })).status).toBe(
      403,
    );
    expect((await attempt({ id, csrf, confirm: 'yes' }, { origin: 'https://evil.example' })).status).toBe(
      403,
    );
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
    expect((await attempt({ id, csrf, confirm: 'yes' }, { 'sec-fetch-site': 'same-origin' })).status).toBe(
      303,
    );
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
  });
});

describe('an open MCP session', () => {
  it('stands on the page without its id, and is ended with its streams and calls, while the app may open another', async () => {
    const visitor = createVisitor();
    const { clientId, tokens } = await obtainTokens(gatehouse, { visitor, person: grace });
    const app = await startApp(gatehouse, tokens.access_token);
    await app.call.waitFor(/progress/);
    const page = await openAccount(gatehouse, { visitor });
    expect(page.html).not.toContain(app.session);
    const [key = '', ...more] = idsIn(page.html, '/account/connections');
    expect(more).toEqual([]);
    const stranger = await openAccount(gatehouse);
    expect((await submitWithId(stranger.visitor, stranger, '/connections', key)).response.status).toBe(404);
    await submitWithId(visitor, page, '/connections', key);
    expect(
      await within(
        1000,
        Promise.all([app.stream.ended, app.call.ended]).then(() => undefined),
      ),
    ).toBe('in time');
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
    expect((await openAccount(gatehouse, { visitor })).html).toContain(clientId);
  });
});
