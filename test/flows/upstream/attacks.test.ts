// Attacks src/authorization-server/upstream-login/upstream-callback.ts, src/authorization-server/upstream-login/begin-upstream.ts
// and src/authorization-server/upstream-login/upstream-pages.ts.
import { describe, expect, it } from 'vitest';
import { authorization, redeem, register } from '../../support/oauth.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { createWalker } from '../../support/upstreams/browse.ts';
import { lin, omar } from '../../support/upstreams/people.ts';
import {
  approve,
  audited,
  begin,
  choose,
  comeBack,
  goThere,
  logIn,
  type Person,
  person,
  type Scene,
  type Seen,
  startScene,
} from './subject.ts';

const stateCookies = ({ visitor }: Person) =>
  [...visitor.cookies.keys()].filter((name) => name.includes('gatehouse-upstream'));

/** Nothing was done: no redirect, no cookie, no code redeemed, nobody linked, nothing given. */
async function expectNothingDone({ gatehouse, work }: Scene, { response, html }: Seen): Promise<void> {
  expect(response.status).toBe(400);
  expect(response.headers.get('location')).toBeNull();
  expect(response.headers.getSetCookie()).toEqual([]);
  expect(html).toContain('This login has ended');
  expect(work.asked.authorization_code).toBe(0);
  expect(await gatehouse.storage.accounts.findByEmail(lin.email)).toBeUndefined();
}

const withQuery = (url: URL, change: (query: URLSearchParams) => void): URL => {
  const changed = new URL(url);
  change(changed.searchParams);
  return changed;
};

describe('a callback is let in only with the state of an approval in this browser', () => {
  const attacks: [string, string, (callback: URL, lina: Person) => [URL, Person]][] = [
    ['without state', 'state_missing', (url, lina) => [withQuery(url, (q) => q.delete('state')), lina]],
    [
      'with an empty state',
      'state_missing',
      (url, lina) => [withQuery(url, (q) => q.set('state', '')), lina],
    ],
    [
      'with two states',
      'state_missing',
      (url, lina) => [withQuery(url, (q) => q.append('state', 'x')), lina],
    ],
    [
      'with a made-up state',
      'state_unknown',
      (url, lina) => [withQuery(url, (q) => q.set('state', 'x')), lina],
    ],
    ['in another browser', 'state_of_other_browser', (url) => [url, person()]],
    [
      'in a browser that has lost the cookie',
      'state_of_other_browser',
      (url, lina) => [
        url,
        {
          ...lina,
          visitor: lina.visitor.copy((name, value) => (name.includes('upstream') ? undefined : value)),
        },
      ],
    ],
    [
      'with another value of the cookie',
      'state_of_other_browser',
      (url, lina) => [
        url,
        { ...lina, visitor: lina.visitor.copy((name, value) => (name.includes('upstream') ? 'x' : value)) },
      ],
    ],
  ];

  it.each(attacks)(
    '%s it is refused with 400, and nothing was done (T-080, A11-06)',
    async (_how, reason, attack) => {
      const scene = await startScene();
      const flow = await begin(scene);
      const lina = person();
      const callback = await goThere(flow, lina);
      const [url, who] = attack(callback, lina);
      await expectNothingDone(scene, await comeBack(url, who));
      expect(await audited(scene, 'upstream.refused')).toMatchObject([{ upstream: 'work', reason }]);
      // Whoever it belongs to can still go on.
      const { response } = await comeBack(callback, lina);
      expect(new URL(response.headers.get('location') ?? '').searchParams.get('code')).toBeTruthy();
    },
  );

  it('at the callback of another upstream it is refused before anything is asked (T-080, T-087)', async () => {
    const scene = await startScene({}, (work) => ({
      upstreams: { hub: work.settings({ label: 'Hub', accounts: { create: true } }) },
    }));
    const lina = person();
    const callback = await goThere(await begin(scene), lina);
    callback.pathname = callback.pathname.replace('work', 'hub');
    await expectNothingDone(scene, await comeBack(callback, lina));
    expect(await audited(scene, 'upstream.refused')).toMatchObject([{ reason: 'state_of_other_upstream' }]);
  });

  it('a second time it gives the same browser the same redirect, and the code is redeemed once (T-080, FA-23)', async () => {
    const scene = await startScene();
    const lina = person();
    const callback = await goThere(await begin(scene), lina);
    const before = lina.visitor.copy();
    const answers = await Promise.all([
      comeBack(callback, lina),
      comeBack(callback, { ...lina, visitor: before }),
    ]);
    const last = await comeBack(callback, { ...lina, visitor: before.copy() });
    const location = last.response.headers.get('location');
    expect(location).toContain('code=');
    const redirects = answers.filter(({ response }) => response.headers.get('location') === location);
    // Two nodes that are asked at once do not know what the other one is about to answer: one of them sends an error page.
    expect(redirects.length).toBeGreaterThanOrEqual(nodeCount === 1 ? 2 : 1);
    const elsewhere = await comeBack(callback, person());
    expect(elsewhere.response.status).toBe(400);
    expect(scene.work.asked.authorization_code).toBe(1);
  });

  it('an unknown upstream has no callback', async () => {
    const scene = await startScene();
    const { response } = await person().visitor.open(
      `${scene.gatehouse.url}/upstream/other/callback?state=x`,
    );
    expect(response.status).toBe(404);
  });
});

describe('nothing goes to an upstream before the person has allowed the app here', () => {
  it('neither cookie nor state nor request exists before, and the cookie after is bound (A11-01, A11-04, T-081)', async () => {
    const scene = await startScene();
    const lina = person();
    const login = await lina.visitor.open((await begin(scene)).url);
    expect(login.html).toContain('Log in with Work');
    const page = await choose(login, lina);
    expect(page.html).toContain('Continue to Work');
    expect(stateCookies(lina)).toEqual([]);
    expect(scene.work.requests.filter((line) => line.includes('/auth'))).toEqual([]);
    expect(await audited(scene, 'upstream.begun')).toEqual([]);
    await approve(page, lina);
    expect(stateCookies(lina)).toHaveLength(1);
  });

  it('the page names the app, its redirect URI, what is asked of both, and cannot be framed or forged (A11-03)', async () => {
    const scene = await startScene();
    const lina = person();
    const flow = await begin(scene, {}, { client_name: 'Notes on my lamp' });
    const { html, response, url } = await choose(await lina.visitor.open(flow.url), lina);
    for (const shown of [
      'Notes on my lamp',
      flow.redirectUri,
      'openid profile email groups',
      'notes:write',
      'name="csrf"',
    ])
      expect(html).toContain(shown);
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(response.headers.get('x-frame-options')).toBe('DENY');
    expect(response.headers.get('content-security-policy')).toContain('form-action');
    for (const body of ['decision=allow&upstream=work', 'decision=allow&upstream=work&csrf=x']) {
      const forged = await lina.visitor.request(`${url}/approve`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body,
      });
      expect(forged.status).toBe(403);
    }
    expect((await lina.visitor.request(`${url}/approve`)).status).toBe(405);
    expect(stateCookies(lina)).toEqual([]);
  });

  it('is asked again for each app and each time, however often the upstream has said yes (A11-01, A11-02, T-079)', async () => {
    const scene = await startScene();
    const lina = person();
    const mine = await begin(scene);
    await logIn(mine, lina);
    // The upstream knows the person and asks nothing more.
    const walked = createWalker();
    const other = person();
    other.walker.pages.push(...walked.pages);
    for (const clientId of [
      mine.clientId,
      (await register(scene.gatehouse.url, { client_name: 'Attacker' })).client_id,
    ]) {
      const again = { ...person(), walker: lina.walker };
      const flow = authorization(scene.gatehouse, clientId);
      const page = await choose(await again.visitor.open(flow.url), again);
      expect(page.html).toContain('Continue to Work');
      expect(page.response.headers.get('location')).toBeNull();
      const pagesBefore = lina.walker.pages.length;
      const there = await approve(page, again);
      await lina.walker.walk(there, lin);
      expect(lina.walker.pages).toHaveLength(pagesBefore);
    }
  });

  it('a refusal there is told the client, and nobody is sent on (A11-01)', async () => {
    const scene = await startScene();
    const lina = person();
    const flow = await begin(scene);
    const page = await choose(await lina.visitor.open(flow.url), lina);
    const { response } = await lina.visitor.submit(page, '/approve', [['decision', 'deny']]);
    const sent = new URL(response.headers.get('location') ?? '');
    expect(sent.searchParams.get('error')).toBe('access_denied');
    expect(sent.searchParams.get('state')).toBe(flow.state);
    expect(await audited(scene, 'consent.denied')).toHaveLength(1);
    expect(stateCookies(lina)).toEqual([]);
  });

  it('a redirect URI that differs in anything is refused before any page (A11-05)', async () => {
    const scene = await startScene();
    const { client_id } = await register(scene.gatehouse.url, {
      application_type: 'web',
      redirect_uris: ['https://app.example/callback'],
    });
    for (const redirect_uri of [
      'https://app.example/callback/',
      'https://app.example/callback?x=1',
      'https://app.example.evil/callback',
      'https://APP.example/callback',
    ]) {
      const flow = authorization(scene.gatehouse, client_id, { redirect_uri });
      const page = await person().visitor.open(flow.url);
      expect(page.response.status, redirect_uri).toBe(400);
      expect(page.html).not.toContain('Work');
    }
  });
});

describe('an attacker', () => {
  it('cannot log a victim in with a login of their own (T-082)', async () => {
    const scene = await startScene();
    const attackers = person(omar);
    const callback = await goThere(await begin(scene), attackers);
    const victim = person();
    // The victim has a login under way too.
    const victims = await goThere(await begin(scene), victim);
    await expectNothingDone(scene, await comeBack(callback, victim));
    expect([...victim.visitor.cookies.keys()].some((name) => name.includes('session'))).toBe(false);
    const mixed = new URL(victims);
    mixed.searchParams.set('code', callback.searchParams.get('code') ?? '');
    const { html, response } = await comeBack(mixed, victim);
    expect(response.headers.get('location')).toBeNull();
    expect(html).toContain('could not be accepted');
    expect(await scene.gatehouse.storage.accounts.findByEmail(omar.email)).toBeUndefined();
    expect(await scene.gatehouse.storage.accounts.findByEmail(lin.email)).toBeUndefined();
  });

  it('cannot have a code of one login redeemed in another (T-083)', async () => {
    const scene = await startScene();
    const [lina, omars] = [person(), person(omar)];
    const [one, two] = [await goThere(await begin(scene), lina), await goThere(await begin(scene), omars)];
    const [codeOfOne, codeOfTwo] = [one, two].map((url) => url.searchParams.get('code') ?? '') as [
      string,
      string,
    ];
    one.searchParams.set('code', codeOfTwo);
    two.searchParams.set('code', codeOfOne);
    for (const [callback, who] of [
      [one, lina],
      [two, omars],
    ] as const) {
      const { response, html } = await comeBack(callback, who);
      expect(response.headers.get('location')).toBeNull();
      expect(html).toContain('could not be accepted');
    }
    const refused = scene.gatehouse.log.filter((line) => line.includes('"audit":"upstream.refused"'));
    expect(refused.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { reason: 'grant_refused' },
      { reason: 'grant_refused' },
    ]);
    expect(await audited(scene, 'login.succeeded')).toEqual([]);
  });
});

it('several apps of one browser log in at once, in any order (T-079)', async () => {
  const scene = await startScene();
  const lina = person();
  const flows = [await begin(scene), await begin(scene), await begin(scene)];
  const callbacks: URL[] = [];
  for (const flow of flows) callbacks.push(await goThere(flow, lina));
  for (const index of [2, 0, 1]) {
    const [flow, callback] = [flows[index], callbacks[index]];
    if (!flow || !callback) throw new Error('no such flow');
    const { response } = await comeBack(callback, lina);
    const sent = new URL(response.headers.get('location') ?? '');
    expect(sent.searchParams.get('state')).toBe(flow.state);
    const [cookie = ''] = (await lina.visitor.request(callback.href)).headers.getSetCookie();
    const [, ends = ''] = /; expires=([^;]+)/i.exec(cookie) ?? [];
    expect(Date.parse(ends) - Date.now()).toBeLessThanOrEqual(30_000);
    const tokens = await redeem(scene.gatehouse.url, flow, sent.searchParams.get('code') ?? '');
    expect(tokens.status).toBe(200);
  }
});

it.each(['accepted', 'refused'])(
  'of a request that is answered in another tab while the upstream is asked, nothing comes: %s (T-028, T-079)',
  async (how) => {
    const scene = await startScene();
    const lina = person();
    const flow = await begin(scene);
    const page = await choose(await lina.visitor.open(flow.url), lina);
    const callback = await lina.walker.walk(await approve(page, lina), lin);
    const otherTab = lina.visitor.copy();
    scene.work.alter('/token', async (body) => {
      const { response } = await otherTab.submit(page, '/approve', [['decision', 'deny']]);
      expect(new URL(response.headers.get('location') ?? '').searchParams.get('error')).toBe('access_denied');
      return how === 'accepted' ? body : { ...body, id_token: 'no.such.token' };
    });
    const { response, html } = await comeBack(callback, lina);
    expect(response.status).toBe(400);
    expect(html).toContain('This login has ended');
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(await scene.gatehouse.storage.accounts.findByEmail(lin.email)).toBeUndefined();
  },
);

it('of one page that is approved twice, each login counts for itself and the app gets one code', async () => {
  const scene = await startScene();
  const lina = person();
  const page = await choose(await lina.visitor.open((await begin(scene)).url), lina);
  const [one, two] = [await approve(page, lina), await approve(page, lina)];
  const first = await comeBack(await lina.walker.walk(one, lin), lina);
  expect(new URL(first.response.headers.get('location') ?? '').searchParams.get('code')).toBeTruthy();
  const second = await comeBack(await lina.walker.walk(two, lin), lina);
  expect(second.response.status).toBe(400);
});

it('20 people log in through one provider at once, and each is who they are (T-092)', async () => {
  const scene = await startScene();
  const { gatehouse } = scene;
  const crowd = await Promise.all(
    Array.from({ length: 20 }, async (_none, index) => {
      const who = person(index % 2 === 0 ? lin : omar);
      return { who, flow: await begin(scene) };
    }),
  );
  const results = await Promise.all(
    crowd.map(async ({ who, flow }) => {
      const sent = await logIn(flow, who);
      expect(sent.searchParams.get('state')).toBe(flow.state);
      const response = await redeem(gatehouse.url, flow, sent.searchParams.get('code') ?? '');
      return { who, clientId: flow.clientId, status: response.status };
    }),
  );
  expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  for (const [login, email] of [
    ['lin', lin.email],
    ['omar', omar.email],
  ]) {
    const account = await gatehouse.storage.accounts.findByEmail(email ?? '');
    const grants = await gatehouse.storage.artifacts.listGrants(account?.id ?? '');
    const theirs = results.filter(({ who }) => who.who.login === login).map(({ clientId }) => clientId);
    expect(grants.map(({ clientId }) => clientId).sort()).toEqual(theirs.sort());
  }
});
