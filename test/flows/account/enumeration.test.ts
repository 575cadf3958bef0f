import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';
import { estimateDifference, isLargerThan } from './support/time-difference.ts';

/** What a leak may be at most, in milliseconds (threats, section on numbers). */
const mostMs = 5;

const wide = { times: 1_000_000, windowSeconds: 60 };
const password = 'a password that is right';

/** Accounts in every state there is, by what is typed. */
const states = {
  'an account that is there': ['there@example.com', 'wrong password'],
  'one that never was': ['nobody@example.com', 'wrong password'],
  'one that was disabled': ['disabled@example.com', 'wrong password'],
  'one that was disabled, with its password': ['disabled@example.com', password],
  'one that has one-time codes': ['codes@example.com', 'wrong password'],
} as const;
type State = keyof typeof states;
const names = Object.keys(states) as State[];

let gatehouse: RunningGatehouse;
let visitor: Visitor;
let csrf: string;
beforeAll(async () => {
  gatehouse = await startGatehouse({
    limits: {
      loginsPerAccountAndAddress: wide,
      loginsPerAccount: wide,
      loginsPerAddress: wide,
      passwordResetsPerAddress: wide,
    },
  });
  const { accounts } = gatehouse.administration;
  for (const name of ['there', 'disabled', 'codes']) await accounts.add(`${name}@example.com`, password);
  await accounts.disable('disabled@example.com');
  const account = await gatehouse.storage.accounts.findByEmail('codes@example.com');
  await gatehouse.storage.oneTimeCodes.enable(
    account?.id ?? '',
    { secret: Buffer.from('sealed'), lastStep: 1, createdAt: 1 },
    [],
  );
  visitor = createVisitor();
  const page = await visitor.open(`${gatehouse.url}/account/login`);
  csrf = /name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
});
afterAll(() => gatehouse.stop());

/** Each copy of a page has a token of its own in its forms. */
const withoutTokens = (html: string) => html.replaceAll(/name="csrf" value="[\w-]+\.[\w-]+"/g, 'CSRF');

/** One login; the time is that of the request alone. */
async function tryLogin(state: State): Promise<{ ms: number; answer: unknown }> {
  const [email, typed] = states[state];
  const began = performance.now();
  const response = await visitor.request(`${gatehouse.url}/account/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ csrf, email, password: typed }).toString(),
  });
  const html = withoutTokens((await response.text()).replaceAll(email, 'EMAIL'));
  const ms = performance.now() - began;
  const headers = [...response.headers].filter(
    ([name]) => !['x-request-id', 'date', 'content-length'].includes(name),
  );
  return { ms, answer: [response.status, headers, html] };
}

describe('a login that fails', () => {
  it('is answered with the same status, headers and page whatever the state of the account (T-116)', async () => {
    const answers = [];
    for (const state of names) answers.push((await tryLogin(state)).answer);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  it('takes the same time whatever the state of the account: no difference beyond 5 ms shows (T-116)', async () => {
    const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<State, number[]>;
    for (let round = 0; round < 60; round++) {
      // Each round begins with another one, so that what a neighbour on the machine does falls on all alike.
      for (let at = 0; at < names.length; at++) {
        const state = names[(round + at) % names.length] as State;
        times[state].push((await tryLogin(state)).ms);
      }
    }
    const there = times['an account that is there'];
    for (const state of names) {
      const difference = estimateDifference(there, times[state]);
      expect(isLargerThan(difference, mostMs), `${state}: ${JSON.stringify(difference)}`).toBe(false);
    }
  }, 240_000);
});

describe('a reset link that does not work', () => {
  it('says nothing about accounts: one that was used and one that never was look alike (T-116)', async () => {
    const { path } = await gatehouse.administration.accounts.startPasswordReset('there@example.com');
    await gatehouse.administration.accounts.setPassword('there@example.com', password);
    const look = async (key: string) => {
      const response = await visitor.request(`${gatehouse.url}/account/reset?key=${key}`);
      const page = await visitor.open(response.headers.get('location') ?? '');
      return [response.status, page.response.status, withoutTokens(page.html)];
    };
    expect(await look(path.split('=')[1] ?? '')).toEqual(await look('AAAAAAAAAAAAAAAAAAAAAA'));
  });
});

describe('the estimate of a difference', () => {
  const noise = (at: number) => ((at * 7919) % 40) + (at % 9 === 0 ? 120 : 0);
  const samples = (offset: number) => Array.from({ length: 60 }, (_, at) => 40 + offset + noise(at));

  it('finds a difference of 30 ms in noise, and none where there is none', () => {
    expect(isLargerThan(estimateDifference(samples(30), samples(0)), mostMs)).toBe(true);
    expect(isLargerThan(estimateDifference(samples(0), samples(30)), mostMs)).toBe(true);
    expect(isLargerThan(estimateDifference(samples(0), samples(0)), mostMs)).toBe(false);
  });
});
