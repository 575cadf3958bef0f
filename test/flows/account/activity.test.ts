// The page of what an app did:
// src/authorization-server/account/activity-page.ts
// src/authorization-server/views/account/activity.ts
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, register } from '../../support/oauth.ts';
import { recordedCall } from '../../support/recorded-calls.ts';
import { grace } from '../../support/served.ts';
import { queryLedger } from '../../support/test-storage.ts';
import { createVisitor } from '../../support/visitor.ts';
import { openAccount } from './support/account.ts';

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  await gatehouse.administration.accounts.add(grace.email, grace.password);
});
afterAll(() => gatehouse.stop());

/** Logs a person in, connects an app, and returns the address of the page of what it did. */
async function connect(
  person = ada,
): Promise<{ href: string; visitor: ReturnType<typeof createVisitor>; client: string }> {
  const visitor = createVisitor();
  const { client_id: client } = await register(gatehouse.url, { client_name: 'An <app>' });
  await obtainTokens(gatehouse, { visitor, person, clientId: client });
  const { html } = await openAccount(gatehouse, { visitor, person });
  const entry = html.split('<li class="item">').find((part) => part.includes(client)) ?? '';
  const [, href = ''] = /href="([^"]*\/activity\?[^"]*)"/.exec(entry) ?? [];
  return { href: href.replaceAll('&amp;', '&'), visitor, client };
}

async function record(email: string, client: string, count: number): Promise<void> {
  const account = (await gatehouse.storage.accounts.findByEmail(email))?.id ?? '';
  const calls = Array.from({ length: count }, (_, at) => recordedCall(count - at, { account, client }));
  await gatehouse.storage.calls.append({ calls, lost: 0 }, Date.now(), false);
}

it('A person sees the calls of an app by tool, its refusals, the accounts that it used, and each call, page by page', async () => {
  const { href, visitor, client } = await connect();
  await record(ada.email, client, 60);
  const { html } = await visitor.open(href);
  expect(html).toContain('What An &lt;app&gt; did as you');
  expect(html).toMatch(/create_issue[\s\S]*?8 calls, \d failed/);
  expect(html).toMatch(/With these accounts and keys of yours[\s\S]*github[\s\S]*48 calls/);
  expect(html).toContain('insufficient_scope');
  expect(html.match(/took too long/g)?.length).toBe(3);
  const [, older = ''] = /href="([^"]*before=[^"]*)"/.exec(html) ?? [];
  const next = (await visitor.open(older.replaceAll('&amp;', '&'))).html;
  const lines = (page: string): number =>
    page.split('Each call, the newest first')[1]?.split('<li').length ?? 0;
  expect([lines(html), lines(next)]).toEqual([51, 11]);
  expect(next).not.toContain('Older calls');
});

it('The calls of other people and of other apps are not on the page (T-124)', async () => {
  const own = await connect();
  await record(grace.email, own.client, 3);
  await record(ada.email, 'another-client', 3);
  expect((await own.visitor.open(own.href)).html).toContain('This app made no calls in the last 28 days.');
  const other = await connect(grace);
  const foreign = own.href.replace(/app=.*/, other.href.replace(/.*app=/, 'app='));
  const { response } = await own.visitor.open(foreign);
  expect(response.status).toBe(404);
});

it('A ledger that cannot be read is said on the page, and the app can still be ended there', async () => {
  const { href, visitor, client } = await connect();
  await record(ada.email, client, 3);
  const renameCalls = (from: string, to: string): Promise<unknown> =>
    queryLedger(gatehouse.folder, `ALTER TABLE ${from} RENAME TO ${to}`);
  await renameCalls('calls', 'lost_calls');
  const { html } = await visitor.open(href);
  await renameCalls('lost_calls', 'calls');
  expect(html).toContain('The calls cannot be read at the moment.');
  expect(html).toMatch(/<form method="post" action="[^"]*\/apps">/);
});
