import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import {
  approve,
  authorization,
  obtainTokens,
  openConsent,
  redeem,
  register,
  tryAccess,
} from '../../support/oauth.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';

describe('a request that was under way', () => {
  let gatehouse: RunningGatehouse;
  let clientId: string;
  let other: Database.Database;
  beforeAll(async () => {
    gatehouse = await startGatehouse({ tokens: { codeSeconds: 1 } });
    clientId = (await register(gatehouse.url)).client_id;
    other = new Database(join(gatehouse.folder, 'gatehouse.db'));
    other.pragma('foreign_keys = ON');
  });
  afterAll(async () => {
    other.close();
    await gatehouse.stop();
  });

  const begin = () => authorization(gatehouse, clientId);
  const isLoggedIn = async (visitor: Visitor) => (await visitor.open(begin().url)).html.includes(ada.email);

  /** Posts the consent of an open page and gives the URL at which the authorization request is taken up again. */
  async function consentUntilResumption(visitor: Visitor): Promise<string> {
    const page = await visitor.open(begin().url);
    const [, action = '', csrf = ''] =
      /action="([^"]*consent)">\s*<input type="hidden" name="csrf" value="([^"]*)/.exec(page.html) ?? [];
    const response = await visitor.request(action, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ csrf, decision: 'allow', scope: 'notes:read' }).toString(),
    });
    return response.headers.get('location') ?? '';
  }

  it('does not bring back a login that another process ended meanwhile (T-119, T-166)', async () => {
    const visitor = createVisitor();
    await approve(begin(), { visitor });
    const resumption = await consentUntilResumption(visitor);
    other.exec('BEGIN IMMEDIATE');
    const underWay = visitor.request(resumption);
    await sleep(300);
    other.exec('DELETE FROM grants; DELETE FROM artifacts WHERE account_id IS NOT NULL; COMMIT');
    const response = await underWay;
    expect(response.status).toBe(400);
    expect(response.headers.get('location')).toBeNull();
    expect(await isLoggedIn(visitor)).toBe(false);
  });

  it('does not log in with a password that was changed meanwhile (T-166)', async () => {
    const visitor = createVisitor();
    const page = await visitor.open(begin().url);
    const { h: former } = other.prepare('SELECT password_hash AS h FROM accounts').get() as { h: string };
    other.exec('BEGIN IMMEDIATE');
    const underWay = visitor.submit(page, '/login', [
      ['email', ada.email],
      ['password', ada.password],
    ]);
    await sleep(400);
    other.exec("UPDATE accounts SET password_hash = 'another'; COMMIT");
    const { response, html } = await underWay;
    other.prepare('UPDATE accounts SET password_hash = ?').run(former);
    expect(response.status).toBe(400);
    expect(html).not.toContain('name="decision"');
    expect(await isLoggedIn(visitor)).toBe(false);
  });

  it('can be tried again when the database was locked, and the person stays logged in (T-171)', async () => {
    const visitor = createVisitor();
    await approve(begin(), { visitor });
    const resumption = await consentUntilResumption(visitor);
    other.exec('BEGIN EXCLUSIVE');
    const failed = await visitor.request(resumption);
    other.exec('ROLLBACK');
    expect(failed.status).toBe(503);
    expect(failed.headers.getSetCookie()).toEqual([]);
    const again = await visitor.request(resumption);
    expect(new URL(again.headers.get('location') ?? '').searchParams.get('code')).toBeTruthy();
    expect(await isLoggedIn(visitor)).toBe(true);
  });

  it('of a second click on the same button goes on with the first answer, and gives one code (T-014, T-028, FA-23)', async () => {
    const visitor = createVisitor();
    await approve(begin(), { visitor });
    const page = await openConsent(begin(), visitor);
    const allow: [string, string][] = [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
    ];
    const clicks = await Promise.all([
      visitor.submit(page, '/consent', allow),
      visitor.submit(page, '/consent', allow),
    ]);
    const places = clicks
      .map(({ response }) => response.headers.get('location'))
      .filter((location) => location?.includes('code='));
    expect(new Set(places).size).toBe(1);
    expect(clicks.every(({ response }) => response.status === 303 || response.status === 400)).toBe(true);
  });

  it('with a code that was used before and has expired since ends what the code gave (T-032)', async () => {
    const { code, flow, tokens } = await obtainTokens(gatehouse, { clientId });
    await sleep(2100);
    const replay = await redeem(gatehouse.url, flow, code);
    expect(replay.status).toBe(400);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
  });

  it('at /register or /token is answered 503 while the database is locked (T-171)', async () => {
    other.exec('BEGIN EXCLUSIVE');
    const answer = await fetch(`${gatehouse.url}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: ['http://127.0.0.1/cb'] }),
    });
    other.exec('ROLLBACK');
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBeTruthy();
  });

  it('at /token gets JSON even where a page was asked for', async () => {
    const answer = await fetch(`${gatehouse.url}/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
      body: 'grant_type=password&client_id=nobody',
    });
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect(await answer.json()).toHaveProperty('error');
  });
});
