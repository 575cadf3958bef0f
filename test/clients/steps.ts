import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ModelServer } from './model-server.ts';
import { type Place, type PlaceName, startPlace } from './place.ts';
import { type ClientProgram, type Session, type StepName, stepNames } from './program.ts';
import type { Exchange } from './recorder.ts';
import { openWorkplace, type Workplace } from './workplace.ts';

/** How a step of a program ended. */
export interface StepResult {
  step: StepName;
  outcome: 'passed' | 'failed' | 'cannot';
  /** Why it failed or cannot be done, or what else was seen. */
  note?: string;
  seconds: number;
}

/** A request of a program, with the step in which it was sent. */
export interface Sent {
  step: StepName;
  exchange: Exchange;
}

/** The life of access tokens in the step `expired`: long enough for a call right after the login. */
const shortTokens = { tokens: { accessTokenSeconds: 20 } };
const callTimeoutMs = 240_000;
/** From here on a step has looped: no program needs so many tokens for two calls. */
const maxTokenRequests = 20;

interface Visit {
  place: PlaceName;
  transport?: 'sse';
  settings?: object;
  steps: readonly StepName[];
}

const visits: readonly Visit[] = [
  { place: 'one', steps: ['one', 'restart', 'revoked'] },
  { place: 'second', steps: ['second'] },
  { place: 'prefix', steps: ['prefix'] },
  { place: 'one', transport: 'sse', steps: ['sse'] },
  { place: 'one', settings: shortTokens, steps: ['expired'] },
];

async function withTimeout<T>(work: Promise<T>, what: string): Promise<T> {
  const timer = new AbortController();
  const late = pause(callTimeoutMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`${what} took longer than ${callTimeoutMs / 1000} s`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}

/** A program at a place, while its steps are taken. */
interface Stay {
  program: ClientProgram;
  at: Workplace;
  session: Session;
}

/** Calls the tool, and checks that the right server ran it. */
async function call({ at, session }: Stay): Promise<void> {
  const text = `note-${randomBytes(4).toString('hex')}`;
  at.model.expect(text);
  const said = await withTimeout(session.call(text), 'the call');
  if (!said.includes(`${at.place.answersWith}${text}`))
    throw new Error(`the tool's result does not come back: ${said.trim().slice(-1500)}`);
  const ran = at.place.exchanges.some(
    ({ body, status }) => body.includes('tools/call') && body.includes(text) && status >= 200 && status < 300,
  );
  if (!ran) throw new Error('the server saw no such call');
}

async function logIn({ session }: Stay): Promise<void> {
  if (session.logIn) await withTimeout(session.logIn(), 'the login');
}

const isTokenRequest = ({ method, path }: Exchange): boolean =>
  method === 'POST' && new URL(path, 'http://localhost').pathname.endsWith('/token');

const refreshes = (exchanges: readonly Exchange[]): Exchange[] =>
  exchanges.filter((one) => isTokenRequest(one) && /grant_type=refresh_token/.test(one.body));

/** Opens the program anew at the same workplace: a person who starts it again. */
async function startAgain(stay: Stay): Promise<void> {
  await stay.session.close?.().catch(() => undefined);
  stay.session = await stay.program.open(stay.at);
}

/** Calls again if a call fails, and then starts the program again, as a person would. */
async function callOrStartAgain(stay: Stay): Promise<string | undefined> {
  try {
    await call(stay);
    return undefined;
  } catch (error) {
    try {
      await call(stay);
      return 'at the second call';
    } catch {
      await startAgain(stay);
      await call(stay).catch((last: Error) => {
        throw new Error(`${last.message}; before: ${(error as Error).message}`);
      });
      return 'after it was started again';
    }
  }
}

/** From the bare URL to a tool call. */
async function getIn(stay: Stay): Promise<string | undefined> {
  await logIn(stay);
  await call(stay);
  const logins = stay.at.person.logins();
  if (logins === 0) throw new Error('it called without a login');
  return logins === 1 ? undefined : `the person was asked ${logins} times`;
}

/** A call with an expired access token: the program refreshes, and nobody is asked. */
async function outliveToken(stay: Stay): Promise<string | undefined> {
  await getIn(stay);
  const { place, person } = stay.at;
  const asked = person.logins();
  const issued = place.exchanges.filter((one) => isTokenRequest(one) && one.status === 200).at(-1);
  if (!issued) throw new Error('no token was issued');
  const { expires_in: life = 0 } = JSON.parse(issued.responseBody) as { expires_in?: number };
  await pause(Math.max(0, issued.at + (life + 1) * 1000 - Date.now()));
  const note = await callOrStartAgain(stay);
  if (person.logins() > asked) throw new Error('the person was asked again');
  // A program with an open stream may refresh before the call.
  const renewed = refreshes(place.exchanges).filter(({ at }) => at > issued.at);
  if (!renewed.some(({ status }) => status === 200)) throw new Error('it did not refresh');
  return note;
}

/** A call after a restart of the server: nobody is asked. */
async function outliveRestart(stay: Stay): Promise<string | undefined> {
  const { place, person } = stay.at;
  const asked = person.logins();
  await place.restart();
  const note = await callOrStartAgain(stay);
  if (person.logins() > asked) throw new Error('the person was asked again');
  return note;
}

/** Calls, and does what a person would if that fails: starts the program again, logs in with it, and last signs out with it. */
async function callOrLogIn(stay: Stay): Promise<string | undefined> {
  const failures: string[] = [];
  const succeeds = async (act: () => Promise<void>): Promise<boolean> =>
    act().then(
      () => true,
      (error: Error) => {
        failures.unshift(error.message);
        return false;
      },
    );
  const again = async (): Promise<void> => {
    await startAgain(stay);
    await logIn(stay);
    await call(stay);
  };
  if (await succeeds(() => call(stay))) return undefined;
  const note = stay.session.logIn ? 'with its login command' : 'after it was started again';
  if (await succeeds(again)) return note;
  const { signOut } = stay.session;
  if (signOut && (await succeeds(() => signOut.act().then(again))))
    return `after its ${signOut.name}: by itself it keeps a login that the server has ended`;
  throw new Error(failures.join('; before: '));
}

/** A call after the grant was revoked: the person is asked anew, by the program itself or when it is started again. */
async function logInAnew(stay: Stay): Promise<string | undefined> {
  const { place, person } = stay.at;
  const asked = person.logins();
  if ((await place.revokeGrants()) === 0) throw new Error('there was no grant');
  const note = await callOrLogIn(stay);
  if (person.logins() === asked) throw new Error('it called without a new login');
  return note;
}

const acts: Readonly<Record<StepName, (stay: Stay) => Promise<string | undefined>>> = {
  one: getIn,
  second: getIn,
  prefix: getIn,
  sse: getIn,
  expired: outliveToken,
  restart: outliveRestart,
  revoked: logInAnew,
};

/** Describes the refusals that a program met, for a step that failed. */
function refusalsOf(exchanges: readonly Exchange[]): string {
  const lines = exchanges
    .filter(({ status, path }) => (status >= 400 || status === 0) && !path.startsWith('/.well-known'))
    .map(
      ({ method, path, status, body, responseBody }) =>
        `${method} ${path.slice(0, 300)} ${body.slice(0, 300)} -> ${status} ${responseBody.slice(0, 300)}`,
    );
  return lines.length === 0 ? '' : ` | refused: ${[...new Set(lines)].slice(-4).join(' ; ')}`;
}

async function takeStep(stay: Stay, step: StepName): Promise<StepResult> {
  const begun = performance.now();
  const { place, person } = stay.at;
  const from = place.exchanges.length;
  const seconds = (): number => Math.round((performance.now() - begun) / 100) / 10;
  const since = (): Exchange[] => place.exchanges.slice(from);
  try {
    const note = await acts[step](stay);
    const tokens = since().filter(isTokenRequest).length;
    // A program that renews a token some time before its end renews one of a few seconds at each request.
    if (step !== 'expired' && tokens > maxTokenRequests) throw new Error(`it asked for ${tokens} tokens`);
    return { step, outcome: 'passed', ...(note === undefined ? undefined : { note }), seconds: seconds() };
  } catch (error) {
    const problems = person.takeProblems();
    const note = [(error as Error).message, ...problems].join('; ') + refusalsOf(since());
    return { step, outcome: 'failed', note, seconds: seconds() };
  }
}

/** What the steps of a program need and tell. */
export interface StepsOptions {
  installed: string;
  model: ModelServer;
  /** The steps to take; all by default. */
  only?: readonly StepName[];
  /** Takes each result when it is there. */
  tell(result: StepResult): void;
  /** Takes each request of the program. */
  keep(sent: Sent): void;
  /** Takes the log of a Gatehouse at whose place a step failed. */
  keepLog?(place: Place): void;
}

const openVisits = new Set<() => Promise<void>>();

async function takeVisit(
  program: ClientProgram,
  { place: name, transport, settings, steps }: Visit,
  { installed, model, tell, keep, keepLog }: StepsOptions,
): Promise<void> {
  const place = await startPlace(name, { ...program.settings, ...settings });
  const at = await openWorkplace(place, transport ?? program.transports[0], installed, model);
  const close = async (): Promise<void> => {
    await at.close();
    await place.stop();
  };
  openVisits.add(close);
  try {
    let stay: Stay | undefined;
    let hasFailed = false;
    for (const step of steps) {
      if (hasFailed) {
        tell({ step, outcome: 'failed', note: 'not reached: a step before failed', seconds: 0 });
        continue;
      }
      const from = place.exchanges.length;
      const begun = performance.now();
      let result: StepResult;
      try {
        stay ??= { program, at, session: await program.open(at) };
        result = await takeStep(stay, step);
      } catch (error) {
        const seconds = Math.round((performance.now() - begun) / 100) / 10;
        result = { step, outcome: 'failed', note: (error as Error).message, seconds };
      }
      tell(result);
      hasFailed = result.outcome === 'failed';
      if (hasFailed) keepLog?.(place);
      for (const exchange of place.exchanges.slice(from)) keep({ step, exchange });
    }
    await stay?.session.close?.().catch(() => undefined);
  } finally {
    openVisits.delete(close);
    await close();
  }
}

/** Ends every process of the visit that is going on, for a run that is interrupted. */
export async function endVisits(): Promise<void> {
  for (const close of openVisits) await close();
}

/** Takes a program through its steps, at a Gatehouse and a home of its own for each place. */
export async function takeSteps(program: ClientProgram, options: StepsOptions): Promise<void> {
  const wanted = options.only ?? stepNames;
  const cannot = new Map<StepName, string>(Object.entries(program.cannot ?? {}) as [StepName, string][]);
  if (!program.transports.includes('sse')) cannot.set('sse', 'it speaks Streamable HTTP alone');
  for (const visit of visits) {
    const listed = visit.steps.filter((step) => !cannot.has(step));
    // A step needs those before it at the same place.
    const last = Math.max(-1, ...listed.map((step, at) => (wanted.includes(step) ? at : -1)));
    const steps = listed.slice(0, last + 1);
    for (const step of visit.steps.filter((one) => cannot.has(one) && wanted.includes(one)))
      options.tell({ step, outcome: 'cannot', note: cannot.get(step) ?? '', seconds: 0 });
    if (steps.length > 0) await takeVisit(program, { ...visit, steps }, options);
  }
}
