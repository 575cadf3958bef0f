import { expect, onTestFinished } from 'vitest';
import type { GatehouseOptions } from '../../../src/index.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { authorization, type Flow, register } from '../../support/oauth.ts';
import { createWalker, type Walker } from '../../support/upstreams/browse.ts';
import { type OpenIdUpstream, startOpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin, type UpstreamPerson } from '../../support/upstreams/people.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';

/** A page as a visitor has it. */
export type Seen = Awaited<ReturnType<Visitor['open']>>;

/** A gatehouse with an upstream called "work", both running. */
export interface Scene {
  gatehouse: RunningGatehouse;
  work: OpenIdUpstream;
}

/** Settings of an upstream over those of the stand-in. */
export type UpstreamOver = Record<string, unknown>;

/** Starts both; they stop with the test. @param over settings of the upstream @param more settings of the gatehouse */
export async function startScene(
  over: UpstreamOver = {},
  more: Parameters<typeof startGatehouse>[0] | ((work: OpenIdUpstream) => object) = {},
): Promise<Scene> {
  const work = await startOpenIdUpstream();
  onTestFinished(() => work.stop());
  const given = typeof more === 'function' ? more(work) : more;
  const { upstreams = {}, ...rest } = given as { upstreams?: object };
  const gatehouse = await startGatehouse({
    dangerously: { upstreamsOverHttp: true },
    upstreams: {
      work: work.settings({
        label: 'Work',
        scopes: ['openid', 'profile', 'email', 'groups'],
        accounts: { create: true },
        ...over,
      }),
      ...upstreams,
    },
    ...rest,
  } as Partial<GatehouseOptions>);
  onTestFinished(() => gatehouse.stop());
  work.allow(`${gatehouse.url}/upstream/work/callback`);
  return { gatehouse, work };
}

/** Somebody at a browser: what it keeps here, and what it keeps at the upstream. */
export interface Person {
  visitor: Visitor;
  walker: Walker;
  who: UpstreamPerson;
}

/** A fresh browser of somebody. */
export function person(who: UpstreamPerson = lin): Person {
  return { visitor: createVisitor(), walker: createWalker(), who };
}

/** A new authorization request of a newly registered client. */
export async function begin(
  { gatehouse }: Scene,
  parameters: Record<string, string | undefined> = {},
  metadata: Record<string, unknown> = {},
): Promise<Flow> {
  const { client_id } = await register(gatehouse.url, metadata);
  return authorization(gatehouse, client_id, parameters);
}

/** Chooses an upstream on the login page, where that is shown; gives the page of its approval. */
export async function choose(page: Seen, { visitor }: Person, upstream = 'work'): Promise<Seen> {
  if (!page.html.includes('/upstream"')) return page;
  return visitor.submit(page, '/upstream', [['upstream', upstream]]);
}

/** Allows the app on the page before the upstream; gives the URL at the upstream. */
export async function approve(
  page: Seen,
  { visitor }: Person,
  scopes: readonly string[] = ['notes:read', 'notes:write'],
  step = '/approve',
): Promise<string> {
  const { response, html } = await visitor.submit(page, step, [
    ['decision', 'allow'],
    ...scopes.map((scope): [string, string] => ['scope', scope]),
  ]);
  const location = response.headers.get('location');
  if (!location) throw new Error(`no redirect to the upstream: ${response.status}\n${html}`);
  return location;
}

/** From the client's request to the upstream's answer: the callback, not yet visited. */
export async function goThere(flow: Pick<Flow, 'url'>, who: Person, answer?: 'allow' | 'deny'): Promise<URL> {
  const page = await choose(await who.visitor.open(flow.url), who);
  return who.walker.walk(await approve(page, who), who.who, answer);
}

/** Visits a callback, and follows it as long as it stays here. */
export function comeBack(callback: URL, { visitor }: Person): Promise<Seen> {
  return visitor.open(callback.href);
}

/** The whole way; gives where the client is sent. */
export async function logIn(flow: Pick<Flow, 'url'>, who: Person): Promise<URL> {
  const { response, html } = await comeBack(await goThere(flow, who), who);
  const location = response.headers.get('location');
  if (!location) throw new Error(`no redirect to the client: ${response.status}\n${html}`);
  return new URL(location);
}

/** Revokes all that was given for somebody, so that what the upstream gave for them is given back, and it is asked anew. */
export async function letGo(
  { gatehouse: { storage }, work }: Scene,
  who: UpstreamPerson = lin,
): Promise<void> {
  const account = await storage.accounts.findByEmail(who.email);
  for (const { id } of await storage.artifacts.listGrants(account?.id ?? ''))
    await storage.artifacts.revokeGrant(id);
  await storage.upstreams.releaseUnheld(Math.floor(Date.now() / 1000) + 3600);
  // Giving back the old tokens would take a login that is under way there along.
  await expect.poll(() => work.revoked.length).toBe(1);
}

/** Events of the audit log, with the details that say what happened. Those of refused requests are written a moment later. */
export async function audited({ gatehouse }: Scene, event: string): Promise<Record<string, string>[]> {
  await new Promise((resolve) => setTimeout(resolve, 200));
  const rows = await gatehouse.storage.audit.read({ event, limit: 1000 });
  return rows.map(({ details }) => JSON.parse(details) as Record<string, string>);
}
