import { describe, expect, it } from 'vitest';
import { corsChecks } from '../../../src/doctor/reach/cors-checks.ts';
import { browserOrigin } from '../../../src/doctor/requests.ts';
import { examined } from '../support/examine.ts';
import { type Fault, routeNames, startServer } from '../support/server.ts';

async function report(fault: Fault) {
  return examined((await startServer({ fault })).url, corsChecks);
}

describe('a browser client', () => {
  it('that a server keeps out by a list of origins is no fault', async () => {
    const found = await report((server) => {
      server.change(routeNames.mcp, (reply, { headers }) =>
        headers.origin === undefined
          ? reply
          : { status: 403, headers: { 'access-control-allow-origin': 'none' } },
      );
      server.routes['OPTIONS /mcp'] = () => ({ status: 403 });
    });
    expect(found.bad()).toEqual([]);
    expect(found.finding('CORS-PREFLIGHT')).toMatchObject({
      verdict: 'skip',
      saw: expect.stringContaining(browserOrigin),
    });
  });

  it('cannot connect where nothing is said of pages', async () => {
    const found = await report((server) => {
      server.cors = false;
    });
    expect(found.bad()).toEqual(['warn CORS-PREFLIGHT', 'warn CORS-CHALLENGE']);
    expect(found.finding('CORS-PREFLIGHT').saw).toContain('OPTIONS is answered with 405');
    expect(found.finding('CORS-CHALLENGE').saw).toContain('Failed to fetch');
  });

  it('that cannot read session ids may not need to: nobody can tell without a login', async () => {
    const found = await report((server) =>
      server.change(routeNames.mcp, (reply) => ({
        ...reply,
        headers: { ...reply.headers, 'access-control-expose-headers': 'WWW-Authenticate' },
      })),
    );
    expect(found.finding('CORS-CHALLENGE').verdict).toBe('unknown');
  });

  it('has to be allowed each field that clients send, Authorization by its name', async () => {
    const found = await report((server) => {
      server.routes['OPTIONS /mcp'] = () => ({
        status: 204,
        headers: { 'access-control-allow-headers': '*' },
      });
    });
    expect(found.finding('CORS-PREFLIGHT')).toMatchObject({
      verdict: 'warn',
      saw: expect.stringContaining('lacks authorization'),
    });
  });
});
