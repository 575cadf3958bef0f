import type { Upstream } from '../upstream.ts';
import { UpstreamFault } from '../upstream-fault.ts';
import { broken, doubtful, needsLogin, reasonFixes, sound, type UpstreamFinding } from './finding.ts';
import { type AuthorizationAnswer, checkAuthorization, checkKeys, checkMetadata } from './metadata-checks.ts';

/** A `fetch` that sends requests like a browser. */
export type BrowserFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Options of {@link examineUpstream}. */
export interface UpstreamExaminationOptions {
  upstream: Upstream;
  /** The address for logout tokens. */
  logoutUrl: string;
  /**
   * Sends requests like a browser without cookies and redirects; used only for the authorization endpoint.
   */
  fetch: BrowserFetch;
  /** Epoch seconds. */
  now: () => number;
}

/** The result of an examination. */
export interface UpstreamReport {
  upstream: string;
  /** The redirect URI to register there. */
  callbackUrl: string;
  logoutUrl: string;
  /** `not_examined` if the upstream did not respond. */
  outcome: 'sound' | 'faults' | 'not_examined';
  findings: readonly UpstreamFinding[];
}

/** Maximum difference of the clocks, in seconds: beyond it tokens seem expired or not yet valid. */
const clockToleranceSeconds = 30;

/** Maximum length of a page, in characters. */
const pageLength = 65_536;

/** A code that no server has issued. */
const noCode = 'gatehouse-upstream-test';

function ofFault(id: string, error: unknown): UpstreamFinding {
  if (!(error instanceof UpstreamFault)) throw error;
  return broken(id, `${error.message} [${error.reason}].`, reasonFixes[error.reason]);
}

/** Tests the client's credentials with an invalid code: the error tells if they were accepted. */
async function checkClient(upstream: Upstream, issuer: unknown): Promise<UpstreamFinding> {
  const { pending } = await upstream.begin();
  const callback = new URLSearchParams({ code: noCode, state: pending.state });
  if (typeof issuer === 'string') callback.set('iss', issuer);
  try {
    await upstream.complete(callback, pending);
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error;
    if (error.reason === 'grant_refused')
      return sound(
        'UP-CLIENT',
        'It accepts the client id and its secret or key: of a wrong code it says that the code is wrong.',
      );
    if (error.reason === 'client_refused' || error.kind === 'unavailable') return ofFault('UP-CLIENT', error);
    return needsLogin(
      'UP-CLIENT',
      `Of a wrong code it says neither yes nor no to the client: ${error.message}.`,
    );
  }
  return broken('UP-CLIENT', 'It accepts any code.', 'Do not log in with it.');
}

async function askAuthorization(
  url: string,
  fetch: BrowserFetch,
): Promise<AuthorizationAnswer & { date: string | null }> {
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { accept: 'text/html' },
    signal: AbortSignal.timeout(10_000),
  });
  const location = response.headers.get('location');
  return {
    status: response.status,
    location: location === null ? undefined : (URL.parse(location, url)?.href ?? location),
    text: (await response.text()).slice(0, pageLength),
    date: response.headers.get('date'),
  };
}

function checkClock(date: string | null, now: number): UpstreamFinding {
  const there = date === null ? Number.NaN : Date.parse(date) / 1000;
  if (Number.isNaN(there)) return needsLogin('UP-CLOCK', 'It does not say what time it is.');
  const difference = Math.round(there - now);
  return Math.abs(difference) <= clockToleranceSeconds
    ? sound('UP-CLOCK', 'The clocks agree.')
    : doubtful(
        'UP-CLOCK',
        `Its clock is ${Math.abs(difference)} seconds ${difference > 0 ? 'ahead of' : 'behind'} this machine's.`,
        'Set the clocks by NTP: ID tokens of another time are refused.',
      );
}

async function checkLogin({ upstream, fetch, now }: UpstreamExaminationOptions): Promise<UpstreamFinding[]> {
  const { url } = await upstream.begin();
  try {
    const answer = await askAuthorization(url, fetch);
    return [checkAuthorization(answer, upstream.callbackUrl), checkClock(answer.date, now())];
  } catch {
    return [
      broken(
        'UP-REDIRECT',
        `Its authorization endpoint at ${new URL(url).host} cannot be asked.`,
        'Check that browsers reach it; this machine does not.',
      ),
    ];
  }
}

function checkHosts({ settings }: Upstream): UpstreamFinding {
  const { apiHosts, login } = settings;
  if (apiHosts.length > 0)
    return sound('UP-API-HOSTS', `Tools may send its tokens to ${apiHosts.join(', ')}.`);
  return login
    ? sound('UP-API-HOSTS', 'It is for logging in alone: tools may send its tokens nowhere.')
    : doubtful(
        'UP-API-HOSTS',
        'Nobody can log in with it, and tools may send its tokens nowhere.',
        'Give "apiHosts", or leave out "login": false.',
      );
}

function checkNewcomers({ settings }: Upstream): UpstreamFinding {
  const { create, linkByVerifiedEmail } = settings.accounts;
  if (!settings.login || create || linkByVerifiedEmail.length > 0)
    return sound('UP-ACCOUNTS', create ? 'Who is new gets an account.' : 'It makes no accounts.');
  return doubtful(
    'UP-ACCOUNTS',
    'Nobody can come in by it who has not linked it yet.',
    'Nothing, where people log in another way first and link it on /account. Else set "accounts": { "create": true }, or "linkByVerifiedEmail" in it with your domains.',
  );
}

function outcomeOf(findings: readonly UpstreamFinding[]): UpstreamReport['outcome'] {
  return findings.some(({ verdict }) => verdict === 'fail') ? 'faults' : 'sound';
}

/**
 * Examines an upstream without a login: metadata, keys, client authentication, callback URL, scopes, clock.
 * It sends requests to the upstream only, and changes nothing.
 * @returns findings without secrets and without response text, except names from its metadata
 */
export async function examineUpstream(options: UpstreamExaminationOptions): Promise<UpstreamReport> {
  const { upstream, logoutUrl } = options;
  const { name, callbackUrl } = upstream;
  const report = { upstream: name, callbackUrl, logoutUrl };
  let metadata: Readonly<Record<string, unknown>>;
  try {
    metadata = await upstream.readMetadata();
  } catch (error) {
    const isAway = error instanceof UpstreamFault && error.kind === 'unavailable';
    const findings = [ofFault('UP-METADATA', error)];
    return { ...report, outcome: isAway ? 'not_examined' : 'faults', findings };
  }
  const { issuer } = metadata;
  const findings: UpstreamFinding[] = [
    sound(
      'UP-METADATA',
      upstream.settings.issuer === undefined
        ? 'Its endpoints are those of the settings.'
        : `Its metadata names its issuer, ${String(issuer)}, and its endpoints.`,
    ),
  ];
  if (upstream.settings.issuer !== undefined) {
    findings.push(
      ...checkMetadata(metadata, {
        scopes: upstream.scopes,
        clientAuthentication: await upstream.clientAuthentication(),
        logoutUrl,
      }),
    );
    findings.push(await upstream.readKeys().then(checkKeys, (error: unknown) => ofFault('UP-KEYS', error)));
  }
  findings.push(
    ...(await checkLogin(options)),
    await checkClient(upstream, issuer),
    checkNewcomers(upstream),
    checkHosts(upstream),
  );
  return { ...report, outcome: outcomeOf(findings), findings };
}
