import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../src/client/index.ts';
import { keptClientCheck } from '../../../src/doctor/registration/policy-checks.ts';
import { expectFound, type FaultCase, refusal } from '../support/active-faults.ts';
import { examined } from '../support/examine.ts';
import { examineActively, headlessLogin } from '../support/login.ts';
import { type Fault, startServer } from '../support/server.ts';

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

describe('a kept client', () => {
  /** Examines with a client that is kept for the issuer; registered there, or made up. */
  async function examineKept(known: boolean, fault: Fault = () => undefined) {
    const server = await startServer({ fault });
    const redirectUris = ['http://127.0.0.1/callback'];
    let clientId = 'forgotten';
    if (known) {
      const response = await fetch(`${server.origin}/register`, {
        method: 'POST',
        body: JSON.stringify({ redirect_uris: redirectUris, token_endpoint_auth_method: 'none' }),
      });
      clientId = ((await response.json()) as { client_id: string }).client_id;
    }
    const kept = createMemoryStore();
    await kept.saveRegistration({ issuer: server.issuer, clientId, redirectUris, source: 'dynamic' });
    const report = await examined(server.url, [keptClientCheck], { login: { kept } });
    return report.finding('REG-ALIVE');
  }

  describe('the client of an earlier login', () => {
    it('passes where the authorization server takes its request, without --active', async () => {
      expect(await examineKept(true)).toMatchObject({ verdict: 'pass' });
    });

    it('fails where it was forgotten, before a browser shows that', async () => {
      expect(await examineKept(false)).toMatchObject({
        verdict: 'fail',
        saw: expect.stringContaining('forgotten was refused with status 400'),
        fix: expect.stringContaining('Log in again'),
      });
    });

    it('may wait for an operator where it is kept out with 403', async () => {
      const waits = await examineKept(true, ({ routes }) => {
        routes['GET /authorize'] = () => ({ status: 403 });
      });
      expect(waits).toMatchObject({
        verdict: 'fail',
        fix: expect.stringContaining('gatehouse client approve'),
      });
    });

    it('is skipped where there is none', async () => {
      const server = await startServer();
      const login = { kept: createMemoryStore() };
      const { finding } = await examined(server.url, [keptClientCheck], { login });
      expect(finding('REG-ALIVE').verdict).toBe('skip');
    });
  });
});
