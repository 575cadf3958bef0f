import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { IssuanceReport, IssuanceTarget, IssuanceTask } from '../../bench/issuance-load.ts';
import { person } from '../../bench/person.ts';
import { startGatehouse } from '../support/gatehouse.ts';

const ways: IssuanceTarget['ways'] = {
  authorize: '/authorize',
  token: '/token',
  register: '/register',
  metadata: '/.well-known/oauth-authorization-server',
  redirectUri: 'http://127.0.0.1:53682/callback',
};

/** Starts a load. Its turns give what it reports, having told it to go on when it was ready, or what it died of. */
function startLoad(
  target: Omit<IssuanceTarget, 'connections'>,
): (task: IssuanceTask) => Promise<IssuanceReport | string> {
  const args = [JSON.stringify({ ...target, connections: 2 } satisfies IssuanceTarget)];
  const load = fork('bench/issuance-load.ts', args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  onTestFinished(() => void load.kill('SIGKILL'));
  const died = load.stderr ? text(load.stderr) : Promise.resolve('');
  return async (task) => {
    load.send(task);
    if ((await Promise.race([once(load, 'message'), died]))[0] !== 'ready') return died;
    load.send('go on');
    return Promise.race([once(load, 'message').then(([report]) => report as IssuanceReport), died]);
  };
}

async function startPerson(): Promise<string> {
  const gatehouse = await startGatehouse();
  onTestFinished(() => gatehouse.stop());
  await gatehouse.administration.accounts.add(person.email, person.password);
  return gatehouse.url;
}

/** An authorization server that gives everybody the same refresh token, always. */
async function startWithoutRotation(): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    request.resume();
    if (pathname === '/bench/login') response.end(JSON.stringify({ cookie: 'a=b', clientId: 'bench' }));
    else if (pathname === '/authorize')
      response.writeHead(302, { location: `${searchParams.get('redirect_uri')}?code=c` }).end();
    else response.end(JSON.stringify({ access_token: 'a', refresh_token: 'always the same' }));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the load of the token endpoint', () => {
  it('redeems each code of a person who logs in and consents, once, turn after turn', async () => {
    const origin = await startPerson();
    const run = startLoad({ origin, ways: { ...ways, consent: ['notes:read'], resource: '/mcp' } });
    for (const codes of [5, 3])
      expect(await run({ work: { kind: 'exchange' }, codes })).toMatchObject({
        done: codes,
        latencies: { length: codes },
      });
  });

  it('refreshes each grant in turn, always with the newest token', async () => {
    const origin = await startPerson();
    const run = startLoad({ origin, ways: { ...ways, consent: ['notes:read'], resource: '/mcp' } });
    const work = { kind: 'refresh', seconds: 0.2 } as const;
    const report = (await run({ work, codes: 4 })) as IssuanceReport;
    expect(report.done).toBeGreaterThanOrEqual(8);
    expect(report.latencies).toHaveLength(report.done);
  });

  it('dies where an answer brings no new refresh token', async () => {
    const origin = await startWithoutRotation();
    const work = { kind: 'refresh', seconds: 0.2 } as const;
    expect(await startLoad({ origin, ways })({ work, codes: 2 })).toContain('an answer without new tokens');
  });
});
