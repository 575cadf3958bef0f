import { describe, expect, it } from 'vitest';
import { expectFound, type FaultCase } from '../support/active-faults.ts';
import { examineActively } from '../support/login.ts';
import type { Fault } from '../support/server.ts';

/** Changes the redirect that the user comes back with; requests of the doctor have another port. */
function comingBack(edit: (back: URL) => void): Fault {
  return (server) =>
    server.change('GET /authorize', (reply) => {
      const back = new URL(String(reply.headers?.location ?? 'about:blank'));
      edit(back);
      return reply.status === 302 ? { ...reply, headers: { location: back.href } } : reply;
    });
}

const faults: FaultCase[] = [
  [
    'drops the state',
    (server) => {
      server.rules.returnsState = false;
    },
    'LOGIN-STATE',
    'fail',
    /has no state/,
  ],
  [
    'changes the state',
    comingBack((back) => back.searchParams.set('state', 'other')),
    'LOGIN-STATE',
    'fail',
    /another state/,
  ],
  [
    'sends the state twice',
    comingBack((back) => back.searchParams.append('state', back.searchParams.get('state') ?? '')),
    'LOGIN-STATE',
    'fail',
    /has 2 states/,
  ],
  [
    'names its issuer with a slash more',
    (server) => {
      server.rules.issOfResponse = (issuer) => `${issuer}/`;
    },
    'LOGIN-ISS',
    'fail',
    /they differ at character \d+: expected the end, found "\/"/,
  ],
  [
    'announces iss and sends none',
    (server) => {
      server.rules.issOfResponse = () => null;
    },
    'LOGIN-ISS',
    'fail',
    /announces authorization_response_iss_parameter_supported/,
  ],
];

describe('the authorization response', () => {
  it.each(faults)('is found wrong where the server %s', async (...fault) => expectFound(fault));

  it('without iss is no fault where none is announced', async () => {
    const report = await examineActively((server) => {
      server.rules.issOfResponse = () => null;
      server.publish('GET /.well-known/oauth-authorization-server', {
        authorization_response_iss_parameter_supported: undefined,
      });
    });
    expect(report.finding('LOGIN-ISS').verdict).toBe('skip');
    expect(report.bad()).toEqual([]);
  });

  it('with a wrong state is used for nothing, and the checks after it name that', async () => {
    const report = await examineActively(comingBack((back) => back.searchParams.set('state', 'other')));
    expect(report.finding('LOGIN-CODE')).toMatchObject({ verdict: 'skip', because: 'LOGIN-STATE' });
    expect(report.finding('TOKEN-ACCEPTED')).toMatchObject({ verdict: 'unknown', because: 'LOGIN-STATE' });
    const redeemed = report.server.requests.filter(
      ({ path, body }) => path === '/token' && body.includes('code=code-'),
    );
    expect(redeemed).toEqual([]);
  });
});
