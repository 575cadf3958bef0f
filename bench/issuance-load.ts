// Turn after turn gets codes, says so, and redeems or refreshes when it is told to: a child of the bench, on the core of the
// load. One for all turns of a server: a new process takes twice as long for each request in its first half second, in which
// the server waits for it and shares fewer commits, and in which the fastest server has redeemed all codes of a turn.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { approve, type Flow, register } from '../test/support/oauth.ts';
import type { Issuer } from './issuers.ts';
import { person } from './person.ts';

/** Whom it asks. */
export interface IssuanceTarget extends Pick<Issuer, 'origin' | 'ways'> {
  connections: number;
}

/** What it is asked to do in a turn. */
export interface IssuanceTask {
  /** Each code is redeemed once, all of them; or each grant is refreshed again and again for some seconds. */
  work: { kind: 'exchange' } | { kind: 'refresh'; seconds: number };
  /** Codes that are got before. */
  codes: number;
}

/** What it saw in a turn. */
export interface IssuanceReport {
  done: number;
  seconds: number;
  /** Milliseconds of each answer. */
  latencies: number[];
}

interface Code {
  clientId: string;
  code: string;
  verifier: string;
}

interface Refreshable {
  clientId: string;
  refreshToken: string;
}

const { origin, ways, connections } = JSON.parse(process.argv[2] ?? '') as IssuanceTarget;
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const resource = ways.resource === undefined ? undefined : new URL(ways.resource, origin).href;

/** Works on all connections at once, until the last one has nothing left to do. */
async function onAllConnections(work: (connection: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: connections }, (_, connection) => work(connection)));
}

async function send(
  method: string,
  url: string,
  headers: OutgoingHttpHeaders,
  body?: string,
): Promise<{ response: IncomingMessage; answer: string }> {
  const outgoing = request(url, { method, agent, timeout: 15_000, headers });
  outgoing.once('timeout', () => outgoing.destroy(new Error('no answer in 15 s')));
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { response, answer: await text(response) };
}

function buildFlow(clientId: string): Flow {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: ways.redirectUri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state,
    ...(resource === undefined ? {} : { resource }),
    ...(ways.scope === undefined ? {} : { scope: ways.scope }),
  });
  const url = `${origin}${ways.authorize}?${query}`;
  return { clientId, redirectUri: ways.redirectUri, verifier, state, url };
}

/** A browser that is logged in: gives where it is sent with the code. */
type Browser = (flow: Flow) => Promise<URL>;

/** Logins that run at once: of more, a server turns some away. */
const loginsAtOnce = 4;

/** A browser in which a person logs in and consents for each code: on loopback no login outlasts its request. */
function ownBrowser(consent: readonly string[]): Browser {
  return (flow) => approve(flow, { person, scopes: [...consent] });
}

/** A browser with a session that was given. `fetch` would say that it is none. */
function openGivenBrowser(cookie: string): Browser {
  return async ({ url }) => {
    const { response, answer } = await send('GET', url, { cookie, accept: 'text/html' });
    const { location } = response.headers;
    if (!location)
      throw new Error(`no redirect to the client: ${response.statusCode} ${answer.slice(0, 300)}`);
    return new URL(location, origin);
  };
}

/** Opens a browser for each connection, or for each of the few that log in at once. */
async function openBrowsers(): Promise<{ clientId: string; browse: Browser }[]> {
  const { consent } = ways;
  if (consent) {
    const { client_id: clientId } = await register(origin);
    return Array.from({ length: loginsAtOnce }, () => ({ clientId, browse: ownBrowser(consent) }));
  }
  const browsers: { clientId: string; browse: Browser }[] = [];
  while (browsers.length < connections) {
    const response = await fetch(`${origin}/bench/login`);
    const { cookie, clientId } = (await response.json()) as { cookie: string; clientId: string };
    browsers.push({ clientId, browse: openGivenBrowser(cookie) });
  }
  return browsers;
}

/** Maximum time to get codes before they are redeemed, in milliseconds. */
const codesMs = 30_000;

/** Gets codes; fewer than wanted if that takes too long: they live for a minute. */
async function getCodes(wanted: number): Promise<Code[]> {
  const browsers = await openBrowsers();
  const got: Code[] = [];
  let left = wanted;
  const until = performance.now() + codesMs;
  await onAllConnections(async (connection) => {
    const browser = browsers[connection];
    while (browser && left-- > 0 && performance.now() < until) {
      const flow = buildFlow(browser.clientId);
      const callback = await browser.browse(flow);
      const code = callback.searchParams.get('code');
      if (code === null) throw new Error(`no code: ${callback}`);
      got.push({ clientId: flow.clientId, code, verifier: flow.verifier });
    }
  });
  return got;
}

/** Asks the token endpoint. @throws Error unless the answer has an access token and a new refresh token */
async function askForTokens(clientId: string, fields: Record<string, string>): Promise<string> {
  const form = { client_id: clientId, ...fields, ...(resource === undefined ? {} : { resource }) };
  const body = new URLSearchParams(form).toString();
  const { response, answer } = await send(
    'POST',
    `${origin}${ways.token}`,
    { 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(body) },
    body,
  );
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${answer.slice(0, 300)}`);
  const { access_token: access, refresh_token: refresh } = JSON.parse(answer) as Record<string, string>;
  if (!access || !refresh || refresh === fields.refresh_token)
    throw new Error('an answer without new tokens');
  return refresh;
}

function redeem({ clientId, code, verifier }: Code): Promise<string> {
  return askForTokens(clientId, {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: ways.redirectUri,
  });
}

/** Takes its time while it is done again and again. */
async function measure(
  run: (timed: (once: () => Promise<void>) => Promise<void>) => Promise<void>,
): Promise<IssuanceReport> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  await run(async (once) => {
    const from = performance.now();
    await once();
    latencies.push(performance.now() - from);
  });
  return { done: latencies.length, seconds: (performance.now() - startedAt) / 1000, latencies };
}

function exchangeAll(codes: Code[]): Promise<IssuanceReport> {
  return measure((timed) =>
    onAllConnections(async () => {
      for (let code = codes.pop(); code; code = codes.pop()) {
        const mine = code;
        await timed(async () => void (await redeem(mine)));
      }
    }),
  );
}

/** Each connection has grants of its own, which take turns. */
function refreshFor(seconds: number, grants: readonly Refreshable[]): Promise<IssuanceReport> {
  const end = performance.now() + seconds * 1000;
  return measure((timed) =>
    onAllConnections(async (connection) => {
      const own = grants.filter((_, at) => at % connections === connection);
      while (performance.now() < end)
        for (const grant of own)
          await timed(async () => {
            const fields = { grant_type: 'refresh_token', refresh_token: grant.refreshToken };
            grant.refreshToken = await askForTokens(grant.clientId, fields);
          });
    }),
  );
}

async function prepare({ work, codes: wanted }: IssuanceTask): Promise<() => Promise<IssuanceReport>> {
  const codes = await getCodes(wanted);
  if (work.kind === 'exchange') return () => exchangeAll(codes);
  const grants: Refreshable[] = [];
  for (const code of codes) grants.push({ clientId: code.clientId, refreshToken: await redeem(code) });
  return () => refreshFor(work.seconds, grants);
}

process.on('disconnect', () => process.exit());
for (;;) {
  const [task] = (await once(process, 'message')) as [IssuanceTask];
  const run = await prepare(task);
  process.send?.('ready');
  await once(process, 'message');
  process.send?.(await run());
}
