import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { IssuanceReport, IssuanceTask } from '../../bench/issuance-load.ts';
import { person } from '../../bench/person.ts';
import { startGatehouse } from '../support/gatehouse.ts';

const ways: IssuanceTask['ways'] = {
  authorize: '/authorize',
  token: '/token',
  register: '/register',
  metadata: '/.well-known/oauth-authorization-server',
  redirectUri: 'http://127.0.0.1:53682/callback',
};

/** Starts the load, tells it to go on when it is ready; gives what it reports, or what it died of. */
async function runLoad(task: Omit<IssuanceTask, 'connections'>): Promise<IssuanceReport | string> {
  const args = [JSON.stringify({ ...task, connections: 2 } satisfies IssuanceTask)];
  const load = fork('bench/issuance-load.ts', args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  onTestFinished(() => void load.kill('SIGKILL'));
  const died = load.stderr ? text(load.stderr) : Promise.resolve('');
  const report = new Promise<IssuanceReport>((resolve) => {
    load.on('message', (message) => {
      if (message === 'ready') load.send('go on');
      else resolve(message as IssuanceReport);
    });
  });
  return Promise.race([report, died]);
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
  it('redeems each code of a person who logs in and consents, once', async () => {
    const origin = await startPerson();
    const own = { ...ways, consent: ['notes:read'], resource: '/mcp' };
    const report = await runLoad({ origin, ways: own, work: { kind: 'exchange' }, codes: 5 });
    expect(report).toMatchObject({ done: 5, latencies: { length: 5 } });
  });

  it('refreshes each grant in turn, always with the newest token', async () => {
    const origin = await startPerson();
    const own = { ...ways, consent: ['notes:read'], resource: '/mcp' };
    const work = { kind: 'refresh', seconds: 0.2 } as const;
    const report = (await runLoad({ origin, ways: own, work, codes: 4 })) as IssuanceReport;
    expect(report.done).toBeGreaterThanOrEqual(8);
    expect(report.latencies).toHaveLength(report.done);
  });

  it('dies where an answer brings no new refresh token', async () => {
    const origin = await startWithoutRotation();
    const work = { kind: 'refresh', seconds: 0.2 } as const;
    expect(await runLoad({ origin, ways, work, codes: 2 })).toContain('an answer without new tokens');
  });
});
