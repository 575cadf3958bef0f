import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { authorization, openConsent, register } from '../../support/oauth.ts';
import { patience } from '../../support/patience.ts';
import { createVisitor } from '../../support/visitor.ts';

// Over src/authorization-server/login.ts and src/authorization-server/interactions/login.ts.

const wide = { times: 100_000, windowSeconds: 60 };
const wideLogins = { loginsPerAccountAndAddress: wide, loginsPerAccount: wide, loginsPerAddress: wide };

async function start(limits: object): Promise<{ gatehouse: RunningGatehouse; client: string }> {
  const gatehouse = await startGatehouse({ limits });
  return { gatehouse, client: (await register(gatehouse.url)).client_id };
}

/** Opens a login page and tries a password. */
async function tryLogin(
  { gatehouse, client }: { gatehouse: RunningGatehouse; client: string },
  email: string,
  password: string,
  visitor = createVisitor(),
): Promise<{ status: number; headers: Headers; html: string }> {
  const page = await visitor.open(authorization(gatehouse, client).url);
  const { response, html } = await visitor.submit(page, '/login', [
    ['email', email],
    ['password', password],
  ]);
  return { status: response.status, headers: response.headers, html };
}

/** What a page says once what differs with each request is taken out. */
function withoutNames(html: string, email: string): string {
  return html
    .replaceAll(email, 'EMAIL')
    .replaceAll(/interaction\/[\w-]+/g, 'interaction/UID')
    .replaceAll(/name="csrf" value="[^"]*"/g, 'CSRF');
}

describe('a wrong login', () => {
  let place: { gatehouse: RunningGatehouse; client: string };
  const gone = { email: 'gone@example.com', password: 'was a good password' };
  beforeAll(async () => {
    place = await start(wideLogins);
    await place.gatehouse.administration.accounts.add(gone.email, gone.password);
    await place.gatehouse.administration.accounts.remove(gone.email);
  });
  afterAll(() => place.gatehouse.stop());

  it('is answered alike for an account that is there, one that never was and one that was removed (T-116)', async () => {
    const answers = [];
    for (const [email, password] of [
      [ada.email, 'wrong password'],
      ['nobody@example.com', 'wrong password'],
      [gone.email, gone.password],
      ['not an address', 'wrong password'],
    ] as const) {
      const { status, headers, html } = await tryLogin(place, email, password);
      const names = [...headers.keys()].filter((name) => name !== 'content-length').sort();
      answers.push({ status, names, html: withoutNames(html, email) });
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]?.status).toBe(401);
    expect(answers[0]?.html).toContain('Incorrect e-mail or password');
  });

  it('is in the audit log with the account, where there is one, and never with what was typed (T-197)', async () => {
    const account = await place.gatehouse.storage.accounts.findByEmail(ada.email);
    const failures = () => place.gatehouse.log.filter((line) => line.includes('"login.failed"'));
    const before = failures().length;
    await tryLogin(place, ada.email, 'wrong password');
    await tryLogin(place, 'hunter2-typed-in-the-wrong-field', 'wrong password');
    const [known, unknown] = failures().slice(before);
    expect(JSON.parse(known ?? '{}')).toMatchObject({ accountId: account?.id, clientId: place.client });
    expect(JSON.parse(unknown ?? '{}')).toMatchObject({ clientId: place.client });
    expect(unknown).not.toContain('accountId');
    expect(place.gatehouse.log.join('')).not.toContain('hunter2');
    expect(failures().join('')).not.toContain(ada.email);
  });

  it('keeps the address that was typed and never the password', async () => {
    const { html } = await tryLogin(place, ada.email, 'a wrong but secret password');
    expect(html).toContain(`value="${ada.email}"`);
    expect(html).not.toContain('a wrong but secret password');
    expect(place.gatehouse.log.join('')).not.toContain('a wrong but secret password');
  });

  it('with an address in other letters or with blanks is a right one', async () => {
    expect((await tryLogin(place, ` ${ada.email.toUpperCase()} `, ada.password)).status).toBe(200);
  });
});

describe('guessing', () => {
  let place: { gatehouse: RunningGatehouse; client: string };
  beforeAll(async () => {
    place = await start({ ...wideLogins, loginsPerAccountAndAddress: { times: 5, windowSeconds: 9 } });
  });
  afterAll(() => place.gatehouse.stop());

  it('one account stops after the limit, also with the right password, and begins again after the window (T-117)', async () => {
    for (let attempt = 0; attempt < 5; attempt++)
      expect((await tryLogin(place, ada.email, 'wrong password')).status).toBe(401);
    const stopped = await tryLogin(place, ada.email, ada.password);
    expect(stopped.status).toBe(429);
    const wait = Number(stopped.headers.get('retry-after'));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(9);
    expect(stopped.html).toContain('Too many attempts');
    await new Promise((resolve) => setTimeout(resolve, wait * 1000 + 200));
    expect((await tryLogin(place, ada.email, ada.password)).status).toBe(200);
  });

  it('leaves other browsers in which the person logged in before their own tries, and the page says so (T-117)', async () => {
    const person = { email: 'dora@example.com', password: 'a right password' };
    await place.gatehouse.administration.accounts.add(person.email, person.password);
    const [one, other] = [createVisitor(), createVisitor()];
    for (const visitor of [one, other]) {
      await tryLogin(place, person.email, person.password, visitor);
      const account = await visitor.open(`${place.gatehouse.url}/account`);
      await visitor.submit(account, '/account/logout', []);
    }
    for (const visitor of [createVisitor(), one]) {
      for (let attempt = 0; attempt < 5; attempt++)
        expect((await tryLogin(place, person.email, 'wrong password', visitor)).status).toBe(401);
      const stopped = await tryLogin(place, person.email, person.password, visitor);
      expect(stopped.status).toBe(429);
      expect(stopped.html).toMatch(
        /wait \d seconds and try again, or use another browser in which you have logged in before/,
      );
    }
    expect((await tryLogin(place, person.email, person.password, other)).status).toBe(200);
  });

  it('is stopped alike for an account that is not there (T-116, T-117)', async () => {
    const statuses = [];
    for (let attempt = 0; attempt < 6; attempt++)
      statuses.push((await tryLogin(place, 'nobody@example.com', 'wrong password')).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });

  it('in parallel counts each guess (T-117)', async () => {
    const name = 'parallel@example.com';
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => tryLogin(place, name, `guess number ${index}`)),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(25);
  });

  it('spelled differently counts as the same account (T-117)', async () => {
    const spellings = [
      'Eve@example.com',
      'eve@EXAMPLE.com',
      ' eve@example.com',
      'EVE@example.com ',
      'eve@example.com',
    ];
    for (const name of spellings) expect((await tryLogin(place, name, 'wrong password')).status).toBe(401);
    expect((await tryLogin(place, 'eVe@example.com', 'wrong password')).status).toBe(429);
  });

  it('does not add up over right logins', async () => {
    await place.gatehouse.administration.accounts.add('carl@example.com', 'a right password');
    for (let attempt = 0; attempt < 4; attempt++) await tryLogin(place, 'carl@example.com', 'wrong password');
    expect((await tryLogin(place, 'carl@example.com', 'a right password')).status).toBe(200);
    expect((await tryLogin(place, 'carl@example.com', 'wrong password')).status).toBe(401);
    expect((await tryLogin(place, 'carl@example.com', 'a right password')).status).toBe(200);
  });
});

describe('guessing over many accounts', () => {
  it('from one address stops after the limit, and the address is that of the connection (T-117)', async () => {
    const place = await start({ ...wideLogins, loginsPerAddress: { times: 8, windowSeconds: 60 } });
    try {
      const statuses = [];
      for (let index = 0; index < 10; index++)
        statuses.push((await tryLogin(place, `person${index}@example.com`, 'Summer2026!')).status);
      expect(statuses).toEqual([...Array(8).fill(401), 429, 429]);
    } finally {
      await place.gatehouse.stop();
    }
  });
});

describe('a flood of logins', () => {
  it('is answered in bounded memory: some are told to come back, others go on (T-118)', async () => {
    const place = await start(wideLogins);
    try {
      const visitors = await Promise.all(
        Array.from({ length: 200 }, async () => {
          const visitor = createVisitor();
          return { visitor, page: await visitor.open(authorization(place.gatehouse, place.client).url) };
        }),
      );
      const before = process.memoryUsage.rss();
      let peak = before;
      const watch = setInterval(() => {
        peak = Math.max(peak, process.memoryUsage.rss());
      }, 20);
      const flood = Promise.all(
        visitors.map(({ visitor, page }, index) =>
          visitor.submit(page, '/login', [
            ['email', `flood${index}@example.com`],
            ['password', 'wrong password'],
          ]),
        ),
      );
      const began = performance.now();
      expect((await fetch(`${place.gatehouse.url}/healthz`)).status).toBe(200);
      expect(performance.now() - began).toBeLessThan(patience(3000));
      const answers = await flood;
      clearInterval(watch);
      const busy = answers.filter(({ response }) => response.status === 503);
      expect(answers.filter(({ response }) => response.status === 401).length + busy.length).toBe(200);
      expect(busy.length).toBeGreaterThan(0);
      for (const { response } of busy) expect(response.headers.get('retry-after')).toBe('2');
      expect(peak - before).toBeLessThan(200 * 1024 * 1024);
      expect(
        (await openConsent(authorization(place.gatehouse, place.client), createVisitor())).html,
      ).toContain(ada.email);
    } finally {
      await place.gatehouse.stop();
    }
  });

  it('with long passwords is refused before anything is hashed (T-118)', async () => {
    const place = await start(wideLogins);
    try {
      const long = await tryLogin(place, ada.email, 'x'.repeat(1025));
      expect(long.status).toBe(401);
      for (const length of [100_000, 1_000_000])
        expect((await tryLogin(place, ada.email, 'x'.repeat(length))).status).toBe(413);
    } finally {
      await place.gatehouse.stop();
    }
  });
});
