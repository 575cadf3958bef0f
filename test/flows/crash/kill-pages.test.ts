// What a person did on a page survives a `kill -9` once the page said so (flows of src/authorization-server/engine/write-set.ts,
// src/authorization-server/account/password-page.ts and src/authorization-server/logout/logout-endpoints.ts).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testFolderForFile } from '../../support/folder.ts';
import {
  approve,
  authorization,
  obtainTokens,
  openConsent,
  redeem,
  register,
  type Tokens,
  tryAccess,
} from '../../support/oauth.ts';
import { runGatehouse } from '../../support/served.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';
import { openAccount } from '../account/support/account.ts';
import { expectRefused, expectTokens } from '../token/subject.ts';
import { expectIntact, type Restartable, startRestartable } from './served.ts';

/** CI kills some times; GATEHOUSE_KILLS as often as it says. */
const rounds = Number(process.env.GATEHOUSE_KILLS ?? 3);
/** Three people are made, log in, and are looked at again after a start. */
const longestRoundMs = 20_000;
const folder = testFolderForFile();
const oldPassword = 'the password of before';
const newPassword = 'the password of today';
let served: Restartable;
beforeAll(async () => {
  served = await startRestartable(folder, { dangerously: { trustOtherPorts: true } });
});
afterAll(() => served.stop());

interface Person {
  email: string;
  password: string;
}

async function addPerson(round: number, what: string): Promise<Person> {
  const person = { email: `${what}${round}@example.com`, password: oldPassword };
  const args = ['account', 'add', person.email, '--password-stdin', '--data', folder];
  const { code, stderr } = await runGatehouse(args, { input: person.password });
  expect([code, stderr]).toEqual([0, '']);
  return person;
}

/** What came of a request: undefined where the connection broke before the answer. */
async function attempt<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch {
    return undefined;
  }
}

async function isLoggedIn(visitor: Visitor): Promise<boolean> {
  return (await visitor.open(`${served.at.url}/account`)).html.includes('Your account</h1>');
}

/** Everything that is about to be done, up to the click that does it. */
async function prepare(round: number) {
  const { at } = served;
  const [consenting, changing, leaving] = await Promise.all(
    ['consents', 'changes', 'leaves'].map((what) => addPerson(round, what)),
  );
  if (!consenting || !changing || !leaving) throw new Error('nobody is there');
  const flow = authorization(at, (await register(at.url)).client_id);
  const visitor = createVisitor();
  const consent = await openConsent(flow, visitor, consenting);
  const { tokens } = await obtainTokens(at, { person: changing });
  const changer = (await openAccount(at, { person: changing })).visitor;
  const password = await changer.open(`${at.url}/account/password`);
  const leaver = (await openAccount(at, { person: leaving })).visitor;
  const logout = await leaver.open(`${at.url}/session/end`);
  return {
    consent: () =>
      visitor.submit(consent, '/consent', [
        ['decision', 'allow'],
        ['scope', 'notes:read'],
      ]),
    change: () =>
      changer.submit(password, '/account/password', [
        ['current', oldPassword],
        ['next', newPassword],
        ['repeat', newPassword],
      ]),
    leave: () => leaver.submit(logout, '/session/end/confirm', [['logout', 'yes']]),
    flow,
    changing,
    tokens,
    /** The browser of who logs out, as somebody copied it before. */
    copied: leaver.copy(),
  };
}

async function checkPassword(person: Person, tokens: Tokens, isAcknowledged: boolean): Promise<void> {
  const { at } = served;
  const works = async (password: string): Promise<boolean> =>
    (await openAccount(at, { person: { ...person, password } })).html.includes('Your account</h1>');
  const isChanged = await works(newPassword);
  expect(await works(oldPassword)).toBe(!isChanged);
  if (isAcknowledged) expect(isChanged).toBe(true);
  expect(await tryAccess(at.mcpUrl, tokens.access_token)).toBe(isChanged ? 401 : 200);
}

describe('a server killed while people act on its pages', () => {
  it(
    `undoes no consent, password change or logout that it acknowledged, and leaves none half done, ${rounds} times (T-166)`,
    async () => {
      const seen = { consents: 0, changes: 0, logouts: 0, lost: 0 };
      for (let round = 0; round < rounds; round++) {
        const ready = await prepare(round);
        const acts = [attempt(ready.consent()), attempt(ready.change()), attempt(ready.leave())] as const;
        // In turn after the first, the second and the last answer, and at once: each is acknowledged now and then.
        const answered = [acts[0], acts[1], acts[2], Promise.all(acts)][round % 4];
        await answered;
        await served.kill();
        const [consented, changed, left] = await Promise.all(acts);
        expectIntact(folder);
        await served.restart();
        const { at } = served;

        const location = consented?.response.headers.get('location') ?? '';
        const code = URL.parse(location)?.searchParams.get('code');
        if (code) await expectTokens(await redeem(at.url, ready.flow, code));
        const isPasswordSaid = changed?.html.includes('The password was changed.') === true;
        await checkPassword(ready.changing, ready.tokens, isPasswordSaid);
        const isLogoutSaid = left !== undefined && left.response.status < 400;
        if (isLogoutSaid) expect(await isLoggedIn(ready.copied)).toBe(false);

        seen.consents += code ? 1 : 0;
        seen.changes += isPasswordSaid ? 1 : 0;
        seen.logouts += isLogoutSaid ? 1 : 0;
        seen.lost += Number(!code) + Number(!isPasswordSaid) + Number(!isLogoutSaid);
      }
      expect(seen.consents).toBeGreaterThan(0);
      expect(seen.changes).toBeGreaterThan(0);
      expect(seen.logouts).toBeGreaterThan(0);
      expect(seen.lost).toBeGreaterThan(0);
    },
    longestRoundMs * rounds,
  );

  it('gives no second set for a code whose consent was acknowledged (T-164)', async () => {
    const { at } = served;
    const flow = authorization(at, (await register(at.url)).client_id);
    const code = (await approve(flow)).searchParams.get('code') ?? '';
    await served.kill();
    await served.restart();
    await expectTokens(await redeem(at.url, flow, code));
    await expectRefused(await redeem(at.url, flow, code), 'invalid_grant');
  });
});
