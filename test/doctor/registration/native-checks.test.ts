import { describe, expect, it } from 'vitest';
import { expectFound, type FaultCase, refusal } from '../support/active-faults.ts';
import { examined } from '../support/examine.ts';
import { activeSections, examineActively, headlessLogin } from '../support/login.ts';
import { startServer } from '../support/server.ts';

const faults: FaultCase[] = [
  [
    'no loopback redirect URI is registered',
    (server) => server.change('POST /register', () => refusal('invalid_redirect_uri')),
    'REG-LOOPBACK-PORT',
    'fail',
    /^Registering http:\/\/127\.0\.0\.1:53682\/callback ended with status 400, "invalid_redirect_uri"/,
  ],
  [
    'a redirect URI without a port is refused',
    (server) =>
      server.change('POST /register', (reply, { body }) =>
        body.includes('127.0.0.1/') ? refusal('invalid_redirect_uri') : reply,
      ),
    'REG-LOOPBACK-PORTLESS',
    'warn',
    /http:\/\/127\.0\.0\.1\/callback.*"invalid_redirect_uri".*with a port it was accepted/,
  ],
  [
    'application_type is refused',
    (server) =>
      server.change('POST /register', (reply, { body }) =>
        body.includes('application_type') ? refusal('invalid_client_metadata') : reply,
      ),
    'REG-APPLICATION-TYPE',
    'fail',
    /With application_type "native".*"invalid_client_metadata".*without it, it was accepted/,
  ],
];

describe('registering a native client', () => {
  it.each(faults)('finds that %s', async (...fault) => expectFound(fault));

  it('says of a refused registration what it explains', async () => {
    const report = await examineActively((server) =>
      server.change('POST /register', () => refusal('invalid_redirect_uri')),
    );
    const explained = report.findings.filter(({ because }) => because === 'REG-LOOPBACK-PORT');
    expect(explained.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['REG-APPLICATION-TYPE', 'REG-LOOPBACK-PORTLESS', 'LOGIN-REQUEST']),
    );
    expect(
      report.findings.filter(({ id, verdict }) => id.startsWith('LOGIN-') && verdict === 'pass'),
    ).toEqual([]);
  });

  it('registers nothing without --active, and asks no user', async () => {
    const server = await startServer();
    const login = headlessLogin();
    const { findings } = await examined(server.url, activeSections, { login });
    expect(login.asked).toEqual([]);
    expect(server.asked().filter((line) => /register|authorize|token|revoke/.test(line))).toEqual([]);
    const skipped = findings.filter(({ saw }) => saw.includes('only with --active'));
    expect(skipped.map(({ id }) => id)).toContain('REG-LOOPBACK-PORT');
    expect(findings.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id)).toEqual(['TOKEN-CLOCK']);
  });

  it('is skipped at a server that registers no clients', async () => {
    const { finding } = await examineActively((server) =>
      server.publish('GET /.well-known/oauth-authorization-server', { registration_endpoint: undefined }),
    );
    expect(finding('REG-LOOPBACK-PORT')).toMatchObject({
      verdict: 'skip',
      saw: expect.stringContaining('no registration endpoint'),
    });
    expect(finding('LOGIN-REQUEST')).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringContaining('Give a client id'),
    });
  });
});
