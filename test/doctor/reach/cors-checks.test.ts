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

  /** Allows these fields, and nothing with any other. */
  const allowing =
    (...allowed: readonly string[]): Fault =>
    (server) => {
      server.routes['OPTIONS /mcp'] = ({ headers }) => {
        const asked = String(headers['access-control-request-headers']).split(',');
        if (asked.some((name) => !allowed.includes(name))) return { status: 400 };
        return { status: 204, headers: { 'access-control-allow-headers': allowed.join(', ') } };
      };
    };
  const sessionFields = ['authorization', 'content-type', 'mcp-protocol-version', 'mcp-session-id'];

  it('of 2026-07-28 may be locked out by a server that asks for a token first: nobody can tell', async () => {
    const found = await report(allowing(...sessionFields));
    expect(found.finding('CORS-PREFLIGHT')).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringMatching(/clients of 2026-07-28 cannot connect.+streams cannot be taken up again/),
    });
  });

  it('of 2026-07-28 is locked out by a server that speaks it and does not allow its fields', async () => {
    const lacking: Fault = (server) => {
      server.change(routeNames.mcp, (reply, { headers, body }) =>
        headers['mcp-method'] === undefined || !body.includes('"io.modelcontextprotocol/protocolVersion"')
          ? reply
          : { json: { jsonrpc: '2.0', id: 'doctor', result: { resultType: 'complete', tools: [] } } },
      );
      server.routes['OPTIONS /mcp'] = () => ({
        status: 204,
        headers: { 'access-control-allow-headers': [...sessionFields, 'last-event-id'].join(', ') },
      });
    };
    expect((await report(lacking)).finding('CORS-PREFLIGHT')).toMatchObject({
      verdict: 'warn',
      saw: expect.stringContaining('Access-Control-Allow-Headers lacks mcp-method, mcp-name'),
      fix: expect.stringContaining('mcp-session-id, mcp-method, mcp-name, last-event-id'),
    });
  });

  it('of 2026-07-28 has nothing to miss at a server that serves everybody in older revisions alone', async () => {
    const found = await report((server) => {
      allowing(...sessionFields, 'last-event-id')(server);
      server.change(routeNames.mcp, () => ({ json: { jsonrpc: '2.0', id: 'doctor', result: {} } }));
    });
    expect(found.finding('CORS-PREFLIGHT').verdict).toBe('pass');
  });
});
