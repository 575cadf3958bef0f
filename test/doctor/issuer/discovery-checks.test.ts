import { describe, expect, it } from 'vitest';
import { passiveChecks } from '../../../src/doctor/all-checks.ts';
import { discoveryChecks } from '../../../src/doctor/issuer/discovery-checks.ts';
import { examined } from '../support/examine.ts';
import { type Fault, routeNames, startServer } from '../support/server.ts';

const { authorizationServer, openidConfiguration } = routeNames;

async function report(fault: Fault, checks = passiveChecks) {
  const server = await startServer({ fault });
  return { server, found: await examined(server.url, checks) };
}

describe('the metadata of the authorization server', () => {
  it('that is nowhere is looked for at every place, and each is named (A4-02)', async () => {
    const { server, found } = await report(({ routes }) => {
      delete routes[authorizationServer];
      delete routes[openidConfiguration];
    });
    expect(found.bad()).toEqual(['fail AS-FOUND']);
    expect(found.finding('AS-FOUND')).toMatchObject({
      saw: expect.stringContaining(`${server.origin}/.well-known/openid-configuration: 404`),
      fix: expect.stringContaining('application/json'),
    });
  });

  it('may be at the second place only', async () => {
    const { found } = await report(({ routes }) => {
      delete routes[authorizationServer];
    });
    expect(found.bad()).toEqual([]);
    expect(found.finding('AS-FOUND').saw).toContain('/.well-known/openid-configuration.');
    expect(found.finding('AS-AGREE').verdict).toBe('skip');
  });

  it.each([
    ['missing', undefined, '"issuer" is not the one in authorization_servers: it is missing'],
    ['another one', 'https://login.example.com', 'found "https://login.example.com"'],
    [
      'behind the proxy',
      'http://keycloak:8080/realms/x',
      'It has the host keycloak, a name of an inner network',
    ],
  ])('names an issuer that is %s: it must not be used (A4-04)', async (_what, issuer, saw) => {
    const { found } = await report((server) => {
      for (const name of [authorizationServer, openidConfiguration]) server.publish(name, { issuer });
    }, discoveryChecks);
    expect(found.finding('AS-ISSUER')).toMatchObject({ verdict: 'fail', saw: expect.stringContaining(saw) });
  });

  it('may be a copy at the origin of a server of 2025-03-26 (A2-03)', async () => {
    const { found } = await report((server) => {
      delete server.routes[routeNames.protectedResource];
      delete server.routes[routeNames.protectedResourceAtRoot];
      for (const name of [authorizationServer, openidConfiguration])
        server.publish(name, { issuer: 'https://login.example.com' });
    }, discoveryChecks);
    expect(found.finding('AS-ISSUER')).toMatchObject({
      verdict: 'pass',
      saw: expect.stringContaining('a copy'),
    });
  });
});
