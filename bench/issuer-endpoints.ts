import { type Issuer, type IssuerName, type IssuerWays, startIssuer } from './issuers.ts';
import type { Pace } from './pace.ts';
import type { Row } from './report.ts';
import type { Load } from './requests.ts';
import { rowOfRuns, takeTurns } from './turns.ts';
import { runWrk } from './wrk.ts';

/** Connections of the load. */
const connections = 16;

interface Work {
  name: string;
  endpoint: keyof Pick<IssuerWays, 'register' | 'metadata'>;
  method: Load['method'];
  /** What an answer has to have. */
  member: string;
  subjects: readonly IssuerName[];
}

/** What is measured of authorization servers that needs no person, and beside whom. */
export const issuerWorks = {
  register: {
    name: 'registration',
    endpoint: 'register',
    method: 'POST',
    member: 'client_id',
    subjects: ['gatehouse', 'oidc-provider FULL', 'oidc-provider NORMAL', 'better-auth NORMAL'],
  },
  metadata: {
    name: 'metadata',
    endpoint: 'metadata',
    method: 'GET',
    member: 'token_endpoint',
    subjects: ['gatehouse', 'oidc-provider FULL', 'better-auth NORMAL'],
  },
} as const satisfies Record<string, Work>;

function buildLoad({ endpoint, method }: Work, { origin, ways }: Issuer): Load {
  const metadata = {
    client_name: 'Bench __ID__',
    redirect_uris: ['http://127.0.0.1:53682/callback'],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: 'native',
  };
  return {
    url: `${origin}${ways[endpoint]}`,
    method,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(metadata),
  };
}

/** Sends a load once. @throws Error unless the answer is the right one */
async function checkAnswer({ member }: Work, { url, method, headers, body }: Load): Promise<void> {
  const response = await fetch(url, method === 'GET' ? { headers } : { method, headers, body });
  const text = await response.text();
  if (!response.ok || typeof JSON.parse(text)[member] !== 'string')
    throw new Error(`${url} answered ${response.status} ${text.slice(0, 300)}`);
}

/** Measures one work: all its servers run side by side, one of them under load at a time. */
export async function measureIssuers(work: Work, pace: Pace, folder: string): Promise<Row[]> {
  const started: { name: IssuerName; issuer: Issuer; load: Load }[] = [];
  try {
    for (const name of work.subjects) {
      const issuer = await startIssuer(name, folder);
      const load = buildLoad(work, issuer);
      started.push({ name, issuer, load });
      await checkAnswer(work, load);
    }
    const runs = await takeTurns(started, pace, async ({ name, issuer, load }, seconds) => {
      const run = await runWrk(issuer.server, load, { folder, connections, seconds });
      if (run.refused + run.broken > 0)
        throw new Error(`${name} failed ${run.refused + run.broken} times. ${issuer.server.output()}`);
      return run;
    });
    return started.map(({ name }, at) => rowOfRuns(work.name, name, runs[at] ?? []));
  } finally {
    await Promise.all(started.map(({ issuer }) => issuer.server.stop()));
  }
}
