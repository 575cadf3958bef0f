import { describe, expect, it } from 'vitest';
import { endpointChecks } from '../../../src/doctor/issuer/endpoint-checks.ts';
import { examined } from '../support/examine.ts';
import { type Fault, routeNames, startServer } from '../support/server.ts';

const { authorizationServer } = routeNames;

async function report(fault: Fault) {
  return examined((await startServer({ fault })).url, endpointChecks);
}

describe('the endpoints', () => {
  it.each([
    ['relative', '/token', '"token_endpoint" is "/token"'],
    ['a script', 'javascript:alert(1)', '"token_endpoint" is "javascript:alert(1)"'],
    ['http elsewhere', 'http://login.example.com/token', 'not https'],
  ])('are refused where one is %s (T-182)', async (_what, endpoint, saw) => {
    const found = await report((server) => server.publish(authorizationServer, { token_endpoint: endpoint }));
    expect(found.finding('AS-ENDPOINTS')).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining(saw),
    });
    expect(found.finding('AS-ENDPOINTS-ANSWER').because).toBe('AS-ENDPOINTS');
  });

  it('have somebody behind them who takes POST at the token endpoint', async () => {
    const found = await report(({ routes }) => {
      routes['POST /token'] = () => ({ status: 405 });
    });
    expect(found.bad()).toEqual(['fail AS-ENDPOINTS-ANSWER']);
    expect(found.finding('AS-ENDPOINTS-ANSWER').saw).toMatch(/The token endpoint .* answers POST with 405/);
  });

  it('may break on a request with nothing in it, and serve a real one', async () => {
    const found = await report(({ routes }) => {
      routes['GET /authorize'] = () => ({ status: 500 });
    });
    expect(found.bad()).toEqual(['warn AS-ENDPOINTS-ANSWER']);
    expect(found.finding('AS-ENDPOINTS-ANSWER').fix).toContain('Answer 400');
    const gone = await report(({ routes }) => {
      routes['GET /authorize'] = () => ({ status: 502 });
    });
    expect(gone.bad()).toEqual(['fail AS-ENDPOINTS-ANSWER']);
  });

  it('may redirect to a login page', async () => {
    const found = await report(({ routes }) => {
      routes['GET /authorize'] = () => ({ status: 302, headers: { location: '/login' } });
    });
    expect(found.bad()).toEqual([]);
  });

  it('are readable for pages, metadata too', async () => {
    const found = await report((server) => {
      server.change(authorizationServer, (reply) => ({
        ...reply,
        headers: { 'access-control-allow-origin': 'https://only.example' },
      }));
    });
    expect(found.bad()).toEqual(['warn AS-CORS']);
    expect(found.finding('AS-CORS').saw).toContain('the metadata has no Access-Control-Allow-Origin');
  });
});

describe('clients of 2025-03-26', () => {
  it('find default endpoints where there is no metadata at the origin (A2-05)', async () => {
    const server = await startServer({ issuerPath: '/tenant' });
    const found = await examined(server.url, endpointChecks);
    expect(found.finding('AS-COMPATIBILITY')).toMatchObject({
      verdict: 'pass',
      saw: `They find ${server.origin}/authorize.`,
    });
  });

  it('may find nothing, which newer clients do not mind', async () => {
    const server = await startServer({
      issuerPath: '/tenant',
      fault: ({ routes }) => {
        delete routes['GET /authorize'];
      },
    });
    const found = await examined(server.url, endpointChecks);
    expect(found.finding('AS-COMPATIBILITY').verdict).toBe('skip');
  });
});
