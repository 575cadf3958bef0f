import { describe, expect, it } from 'vitest';
import { expectFound, type FaultCase, refusal } from '../support/active-faults.ts';
import { examineActively, headlessLogin } from '../support/login.ts';
import type { Fault } from '../support/server.ts';

const faults: FaultCase[] = [
  [
    'an http redirect URI on a public host is registered',
    (server) => {
      server.rules.refusesPlainHttpRedirects = false;
    },
    'REG-HTTP-REDIRECT',
    'fail',
    /^http:\/\/doctor\.invalid\/callback was registered/,
  ],
  [
    'such a redirect URI breaks the server instead',
    (server) =>
      server.change('POST /register', (reply, { body }) =>
        body.includes('doctor.invalid') ? { status: 500, text: 'oops' } : reply,
      ),
    'REG-HTTP-REDIRECT',
    'warn',
    /status 500 and a body that is no JSON object/,
  ],
];

const onlyKnownNames: Fault = (server) =>
  server.change('POST /register', (reply, { body }) =>
    body.includes('"Acme"') ? refusal('invalid_client_metadata') : reply,
  );

describe('what a server registers', () => {
  it.each(faults)('is found wrong where %s', async (...fault) => expectFound(fault));

  it('is tried with the name of the user’s client where one is given (CL-10)', async () => {
    const login = headlessLogin({ clientName: 'Acme' });
    const only = ['REG-CLIENT-NAME'];
    const refused = await examineActively(onlyKnownNames, { only, login });
    expect(refused.finding('REG-CLIENT-NAME')).toMatchObject({
      verdict: 'fail',
      saw: expect.stringMatching(/"Acme" was rejected by policy, with status 400, "invalid_client_metadata"/),
    });
    const accepted = await examineActively(undefined, { only, login });
    expect(accepted.finding('REG-CLIENT-NAME').verdict).toBe('pass');
  });

  it('is not tried with names of others', async () => {
    const { finding } = await examineActively(onlyKnownNames, { only: ['REG-CLIENT-NAME'] });
    expect(finding('REG-CLIENT-NAME').verdict).toBe('skip');
  });
});
