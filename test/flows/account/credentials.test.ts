// Keys that people enter for MCP servers, on their account page:
// src/authorization-server/account/credentials-page.ts
// src/authorization-server/views/account/credentials.ts
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSealedBox } from '../../../src/crypto/sealed-box.ts';
import { accountMark } from '../../../src/crypto/secret.ts';
import { credentialContext } from '../../../src/storage/backends.ts';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { readDatabase } from '../../support/test-storage.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';
import { type OpenPage, openAccount } from './support/account.ts';

const grace = { email: 'grace@example.com', password: 'another horse battery staple' };

const credentials = {
  apiKey: { label: 'Notion key', help: 'Notion, Settings, Integrations.', as: { env: 'NOTION_TOKEN' } },
  space: { label: 'Space', as: { env: 'NOTION_SPACE' } },
  app: { as: { env: 'APP' }, from: { env: 'PATH' } },
} as const;

let gatehouse: RunningGatehouse;
let accountId: string;
beforeAll(async () => {
  gatehouse = await startGatehouse({
    routes: {
      notion: { name: 'Notion', backend: { command: 'true' }, credentials },
      plain: { backend: { command: 'true' } },
    },
  });
  await gatehouse.administration.accounts.add(grace.email, grace.password);
  accountId = (await gatehouse.administration.accounts.show(ada.email)).id;
});
afterAll(() => gatehouse.stop());

const page = '/credentials/notion';

/** Posts fields with the token of a page that is open. */
function post(
  { visitor, html }: OpenPage & { visitor: Visitor },
  path: string,
  fields: Record<string, string>,
): Promise<OpenPage> {
  const csrf = /name="csrf" value="([^"]*)"/.exec(html)?.[1] ?? '';
  return visitor.open(`${gatehouse.url}/account${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ csrf, ...fields }),
  });
}

/** Opens the page and enters a value. */
async function enter(credential: string, value: string, person = ada): Promise<OpenPage> {
  return post(await openAccount(gatehouse, { page, person }), page, { credential, value });
}

const stored = () => gatehouse.storage.backendCredentials.listOf(accountId);

describe('a key for an MCP server', () => {
  it('is asked for with its label and where to get it; what the operator has is not asked for', async () => {
    const { html } = await openAccount(gatehouse, { page });
    expect(html).toContain('Keys for Notion');
    expect(html).toContain('Notion, Settings, Integrations.');
    expect(html.match(/type="password" autocomplete="off"/g)).toHaveLength(2);
    expect(html).not.toContain('>app<');
    const overview = await openAccount(gatehouse);
    expect(overview.html).toContain('Keys for MCP servers (0 of 2 entered)');
    const list = await openAccount(gatehouse, { page: '/credentials' });
    expect(list.html).toContain('Change for Notion');
    expect(list.html).not.toContain('plain');
  });

  it('is kept sealed for its account, and stands in no page, log, file or audit row (T-094, T-194)', async () => {
    const secret = 'ntn_planted_4711';
    const entered = await enter('apiKey', `  ${secret}\n`);
    expect(entered.html).toContain('Notion key is stored. If an app sent you here, you can go back to it.');
    expect(entered.html).toContain('Replace Notion key');
    const sealed = await gatehouse.storage.backendCredentials.find({
      accountId,
      route: 'notion',
      name: 'apiKey',
    });
    const box = createSealedBox(gatehouse.keys.sealing);
    expect(box.open(sealed ?? Buffer.of(), credentialContext(accountId, 'notion', 'apiKey'))).toBe(secret);
    const rows = await gatehouse.administration.audit.list({
      event: 'account.credential_entered',
      limit: 10,
    });
    expect(rows).toMatchObject([
      { event: 'account.credential_entered', details: { accountId, route: 'notion', credential: 'apiKey' } },
    ]);
    const pages = await Promise.all(
      ['', '/credentials', page].map(async (path) => (await openAccount(gatehouse, { page: path })).html),
    );
    const stored = await readDatabase(gatehouse.folder);
    const said = [...pages, stored, ...gatehouse.log, entered.html, entered.url, JSON.stringify(rows)].join(
      '\n',
    );
    expect(said).not.toContain(secret);
  });

  it('is replaced and removed by its person; nobody else sees that it is there (T-130)', async () => {
    await enter('apiKey', 'first');
    const [before] = await stored();
    await enter('apiKey', 'second');
    expect(await stored()).toHaveLength(1);
    expect(before?.name).toBe('apiKey');
    const of = await openAccount(gatehouse, { page, person: grace });
    expect(of.html).not.toContain('Replace');
    const entered = await post(of, page, { credential: 'apiKey', value: 'of-grace' });
    expect(entered.html).toContain('Notion key is stored');
    expect(await stored()).toHaveLength(1);
    const opened = await openAccount(gatehouse, { page });
    const removed = await post(opened, `${page}/remove`, { credential: 'apiKey' });
    expect(removed.html).toContain('It was removed.');
    expect(await stored()).toEqual([]);
    expect(
      (
        await gatehouse.storage.backendCredentials.listOf(
          (
            await gatehouse.administration.accounts.show(grace.email)
          ).id,
        )
      ).length,
    ).toBe(1);
  });

  it.each([
    ['', 400, 'The field is empty.'],
    ['   ', 400, 'The field is empty.'],
    ['a\0b', 400, 'a line break or a control character'],
    ['k'.repeat(8_193), 400, 'too long for a key'],
  ])('is refused with a sentence: %j', async (value, status, sentence) => {
    const refused = await enter('space', value);
    expect(refused.response.status).toBe(status);
    expect(refused.html).toContain(sentence);
    expect(await stored()).toEqual([]);
  });

  it.each(['app', 'unknown', '__proto__', ''])('that nobody asks for is not kept: %j', async (name) => {
    const refused = await enter(name, 'a value');
    expect(refused.response.status).toBe(404);
    expect(await stored()).toEqual([]);
  });

  it('is entered with the token of the page, from this site, by who has logged in (T-014)', async () => {
    const opened = await openAccount(gatehouse, { page });
    const send = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
      opened.visitor.request(`${gatehouse.url}/account${page}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: new URLSearchParams({ credential: 'apiKey', value: 'of-an-attacker', ...fields }),
      });
    expect((await send({})).status).toBe(403);
    const csrf = /name="csrf" value="([^"]*)"/.exec(opened.html)?.[1] ?? '';
    expect((await send({ csrf }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    const stranger = await createVisitor().request(`${gatehouse.url}/account${page}`);
    expect([stranger.status, stranger.headers.get('location')]).toEqual([
      303,
      expect.stringContaining('/account/login'),
    ]);
    expect(await stored()).toEqual([]);
  });

  it('that a call asked one account for is entered by no other (C7-04)', async () => {
    await gatehouse.storage.backendCredentials.remove({ accountId, route: 'notion', name: 'apiKey' });
    const mine = await openAccount(gatehouse, { page: `${page}/${accountMark(accountId)}` });
    expect(mine.html).toContain('Save Notion key');
    const other = await openAccount(gatehouse, { page: `${page}/${accountMark(accountId)}`, person: grace });
    expect(other.response.status).toBe(403);
    expect(other.html).toContain('for another account, not for the one');
    expect(other.html).not.toContain('name="value"');
  });

  it.each([
    '/credentials/plain',
    '/credentials/nothing',
    '/credentials/notion/0',
    '/credentials/notion/link',
  ])('has no page at %s', async (path) => {
    expect((await openAccount(gatehouse, { page: path })).response.status).toBe(404);
  });

  it('goes with its account', async () => {
    const lin = { email: 'lin@example.com', password: 'yet another horse staple' };
    const { id } = await gatehouse.administration.accounts.add(lin.email, lin.password);
    await enter('apiKey', 'of-lin', lin);
    expect(await gatehouse.storage.backendCredentials.listOf(id)).toHaveLength(1);
    await gatehouse.administration.accounts.remove(lin.email);
    expect(await gatehouse.storage.backendCredentials.listOf(id)).toEqual([]);
  });
});
