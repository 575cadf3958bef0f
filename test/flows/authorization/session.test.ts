import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cookieName } from '../../../src/authorization-server/cookie-name.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { approve, authorization, openConsent, register } from '../../support/oauth.ts';
import { openState } from '../../support/test-storage.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';

let gatehouse: RunningGatehouse;
let client: string;
let sessionCookie: string;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  sessionCookie = cookieName(gatehouse.url, 'session', 'host');
  client = (await register(gatehouse.url)).client_id;
});
afterAll(() => gatehouse.stop());

async function loggedIn(): Promise<Visitor> {
  const visitor = createVisitor();
  await approve(authorization(gatehouse, client), { visitor });
  return visitor;
}

/** What the server thinks of a browser without asking anybody. */
async function stateOf(visitor: Visitor, at = gatehouse, id = client): Promise<string> {
  const response = await visitor.request(authorization(at, id, { prompt: 'none' }).url);
  expect(response.status).toBe(303);
  return new URL(response.headers.get('location') ?? '').searchParams.get('error') ?? '';
}

describe('a login session', () => {
  it('has a new id after a login, and the one a browser came with is not taken (T-119)', async () => {
    const fixed = createVisitor(
      new Map([[`${sessionCookie} /`, { value: 'chosen-by-an-attacker', path: '/' }]]),
    );
    await openConsent(authorization(gatehouse, client), fixed);
    expect(fixed.cookies.get(sessionCookie)).toMatch(/^[\w-]{43}$/);
    const attacker = createVisitor(
      new Map([[`${sessionCookie} /`, { value: 'chosen-by-an-attacker', path: '/' }]]),
    );
    expect(await stateOf(attacker)).toBe('login_required');
  });

  it('that was used before a login belongs to nobody after it (T-119)', async () => {
    const victim = await loggedIn();
    const planted = victim.copy();
    await openConsent(authorization(gatehouse, client, { prompt: 'login' }), victim);
    expect(victim.cookies.get(sessionCookie)).not.toBe(planted.cookies.get(sessionCookie));
    expect(await stateOf(planted)).toBe('login_required');
    expect(await stateOf(victim)).toBe('consent_required');
  });

  it('has a new id after a consent, which widens what is allowed; the old id is dead (T-119)', async () => {
    const visitor = createVisitor();
    const page = await openConsent(authorization(gatehouse, client), visitor);
    const before = visitor.copy();
    await visitor.submit(page, '/consent', [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
    ]);
    expect(visitor.cookies.get(sessionCookie)).not.toBe(before.cookies.get(sessionCookie));
    expect(await stateOf(before)).toBe('login_required');
    expect(await stateOf(visitor)).toBe('consent_required');
  });
});

describe('two servers on one host', () => {
  it('leave each other their logins, as browsers keep cookies whatever the port', async () => {
    const other = await startGatehouse();
    try {
      const visitor = await loggedIn();
      const elsewhere = (await register(other.url)).client_id;
      await approve(authorization(other, elsewhere), { visitor });
      expect(await stateOf(visitor)).toBe('consent_required');
      expect(await stateOf(visitor, other, elsewhere)).toBe('consent_required');
      const page = await visitor.open(`${other.url}/session/end`);
      await visitor.submit(page, '/session/end/confirm', [['logout', 'yes']]);
      expect(await stateOf(visitor, other, elsewhere)).toBe('login_required');
      expect(await stateOf(visitor)).toBe('consent_required');
    } finally {
      await other.stop();
    }
  });
});

describe('a cookie', () => {
  it.each(['', '.sig'])(
    'of which one character differs is no login, and no fault: its name and %j (T-121)',
    async (end) => {
      const visitor = await loggedIn();
      for (const at of [0, 10, 20]) {
        const tampered = visitor.copy((name, value) => {
          if (name !== `${sessionCookie}${end}`) return value;
          return `${value.slice(0, at)}${value[at] === 'A' ? 'B' : 'A'}${value.slice(at + 1)}`;
        });
        expect(await stateOf(tampered)).toBe('login_required');
      }
      expect(await stateOf(visitor)).toBe('consent_required');
    },
  );

  it('without its signature, or with that of another session, is no login (T-121)', async () => {
    const [ada, other] = [await loggedIn(), await loggedIn()];
    expect(await stateOf(ada.copy((name, value) => (name.endsWith('.sig') ? undefined : value)))).toBe(
      'login_required',
    );
    const swapped = ada.copy((name, value) => (name.endsWith('.sig') ? other.cookies.get(name) : value));
    expect(await stateOf(swapped)).toBe('login_required');
  });

  it('that is tossed in beside the right one, or among many, gives nobody else a login and no fault (T-121)', async () => {
    const visitor = await loggedIn();
    const right = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const { url } = authorization(gatehouse, client, { prompt: 'none' });
    const many = Array.from({ length: 150 }, (_, index) => `tossed${index}=${'x'.repeat(40)}`).join('; ');
    for (const cookie of [
      `${sessionCookie}=tossed; ${right}`,
      `${right}; ${sessionCookie}=tossed`,
      `${sessionCookie}=; ${sessionCookie}.sig=; =; ;;`,
      `${many}; ${right}`,
      `__proto__=1; constructor=2; ${sessionCookie}=%00%ff`,
    ]) {
      const response = await fetch(url, { headers: { cookie }, redirect: 'manual' });
      const error = new URL(response.headers.get('location') ?? '').searchParams.get('error') ?? '';
      expect(response.status).toBe(303);
      expect(['login_required', 'consent_required']).toContain(error);
    }
  });

  it('on localhost is HttpOnly and SameSite=Lax, and those of an interaction reach that alone (T-121)', async () => {
    const visitor = createVisitor();
    const begun = await visitor.request(authorization(gatehouse, client).url);
    const uid = (begun.headers.get('location') ?? '').split('/').at(-1) ?? '';
    const lines = begun.headers.getSetCookie();
    expect(lines.length).toBeGreaterThanOrEqual(4);
    for (const line of lines) {
      expect(line).toMatch(/; httponly/i);
      expect(line).toMatch(/; samesite=lax/i);
      expect(line).not.toMatch(/domain=/i);
      expect(line).toMatch(
        line.startsWith('gatehouse-resume') ? `path=/authorize/${uid}` : `path=/interaction/${uid}`,
      );
    }
  });

  it('under https is Secure, its name says so, and the session belongs to this host alone (T-121, A12-09)', async () => {
    const behindProxy = await startGatehouse({
      publicUrl: 'https://mcp.example.com',
      trustedProxies: ['loopback'],
    });
    try {
      const id = (await register(behindProxy.listensAt)).client_id;
      const { url } = authorization({ url: behindProxy.listensAt, mcpUrl: behindProxy.mcpUrl }, id);
      const begun = await fetch(url, { redirect: 'manual' });
      expect(begun.headers.get('location')).toMatch(/^https:\/\/mcp\.example\.com\/interaction\//);
      const page = await fetch(
        (begun.headers.get('location') ?? '').replace('https://mcp.example.com', behindProxy.listensAt),
        {
          headers: {
            cookie: begun.headers
              .getSetCookie()
              .map((line) => line.split(';')[0])
              .join('; '),
          },
        },
      );
      expect(page.status).toBe(200);
      const lines = begun.headers.getSetCookie();
      for (const line of lines) {
        expect(line).toMatch(/; secure/i);
        expect(line).toMatch(/; httponly/i);
        expect(line).toMatch(/; samesite=lax/i);
        expect(line).toMatch(/^__(Secure|Host)-gatehouse-/);
      }
      const session = await sessionCookieOf(behindProxy, page, begun);
      expect(session).toMatch(/^__Host-gatehouse-session=/);
      expect(session).toMatch(/; path=\/;/i);
      expect(session).toMatch(/; secure/i);
      expect(session).not.toMatch(/domain=/i);
    } finally {
      await behindProxy.stop();
    }
  });

  it('signed with an earlier key still counts after a new key was put first, and not once that key is gone (T-121)', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
    const first = await startGatehouse({ folder });
    const id = (await register(first.url)).client_id;
    const visitor = createVisitor();
    await approve(authorization(first, id), { visitor });
    await first.stop();
    const port = Number(new URL(first.url).port);
    const data = await openState(folder);
    await data.storage.close();
    const fresh = 'a fresh key of enough characters to sign with';
    for (const [cookies, state] of [
      [[fresh, ...data.keys.cookies], 'consent_required'],
      [[fresh], 'login_required'],
    ] as const) {
      const next = await startGatehouse({ folder, port, keys: { ...data.keys, cookies: [...cookies] } });
      expect(await stateOf(visitor.copy(), next, id)).toBe(state);
      await next.stop();
    }
    await rm(folder, { recursive: true });
  });
});

/** Logs in by hand behind the proxy; gives the session's Set-Cookie line. */
async function sessionCookieOf(place: RunningGatehouse, page: Response, begun: Response): Promise<string> {
  const html = await page.text();
  const inside = (url: string): string => url.replace('https://mcp.example.com', place.listensAt);
  const cookie = begun.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  const posted = await fetch(inside(/action="([^"]*\/login)"/.exec(html)?.[1] ?? ''), {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({
      csrf: /name="csrf" value="([^"]*)"/.exec(html)?.[1] ?? '',
      email: 'ada@example.com',
      password: 'correct horse battery staple',
    }).toString(),
    redirect: 'manual',
  });
  const resumed = await fetch(inside(posted.headers.get('location') ?? ''), {
    headers: { cookie },
    redirect: 'manual',
  });
  return resumed.headers.getSetCookie().find((line) => /session=/.test(line)) ?? '';
}
