// Flows through src/gateway/backends/remote/remote-backend.ts and src/gateway/backends/remote/wire.ts: servers that fail, one way after
// another, behind a real gate.
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { GatehouseOptions } from '../../../src/index.ts';
import { createCertificate } from '../../support/certificate.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { listen, type Received } from './support/elsewhere.ts';
import { type Faulty, faults, serveFaults } from './support/faulty.ts';

const limits = { connectMs: 400, startMs: 2000, headMs: 400, bodyMs: 400, maxAnswerBytes: 100_000 };

/** What each way to fail is called. */
const reasons: Record<keyof typeof faults, string | undefined> = {
  'answers never': 'backend_timed_out',
  'drips an answer': 'backend_timed_out',
  'drips an event': undefined,
  'ends before the head': 'backend_ended',
  'ends in an answer': 'backend_ended',
  'ends in a stream': 'backend_ended',
  'ends a stream early': 'backend_ended',
  'answers a page': 'backend_answer_unreadable',
  'answers half': 'backend_answer_unreadable',
  'answers no HTTP': 'backend_not_http',
  'ends lines with LF': 'backend_not_http',
  'ends lines with LF and closes': 'backend_not_http',
  'ends chunks with LF': 'backend_not_http',
  'ends chunks of a stream with LF': 'backend_not_http',
  'answers another id': 'backend_answer_unreadable',
  'answers 0': 'backend_answer_unreadable',
  'answers null as error': 'backend_answer_unreadable',
  'answers nothing': 'backend_answer_unreadable',
  'answers too much': 'backend_answer_too_large',
  'sends too long an event': 'backend_answer_too_large',
  'nests too deep': 'backend_answer_too_large',
  'has too large a head': 'backend_answer_too_large',
  'wants a login': 'backend_wants_login',
  forbids: 'backend_forbids',
  'is no such thing': 'backend_refused',
  'is broken': 'backend_failed',
  'is a bad gateway': 'backend_failed',
  'has no time': 'backend_overloaded',
  'has had enough': 'backend_overloaded',
  'redirects by 302': 'backend_redirected',
  'redirects by 307': 'backend_redirected',
  'redirects by 308': 'backend_redirected',
};

async function connect(gate: RunningGatehouse): Promise<Client> {
  const { tokens } = await obtainTokens(gate, { scope: 'mcp', scopes: ['mcp'] });
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${tokens.access_token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(gate.mcpUrl), { requestInit }));
  return client;
}

async function failureOf(
  outcome: Promise<unknown>,
): Promise<{ reason: unknown; message: string; tookMs: number }> {
  const begun = performance.now();
  const error = await outcome.then(
    () => undefined,
    (rejected: unknown) => rejected as { data?: { reason?: unknown }; message: string },
  );
  return { reason: error?.data?.reason, message: error?.message ?? '', tookMs: performance.now() - begun };
}

describe('a call that a server fails', () => {
  let trap: { origin: string; received: Received[]; stop(): Promise<void> };
  let faulty: Faulty;
  let gate: RunningGatehouse;
  let client: Client;
  let other: Client;
  beforeAll(async () => {
    trap = await listen((_request, response) => void response.end());
    faulty = await serveFaults(trap.origin);
    gate = await startGatehouse({
      backend: { url: faulty.url, name: 'Faulty', transport: 'http', ...limits },
    });
    client = await connect(gate);
    other = await connect(gate);
  });
  afterAll(async () => {
    await Promise.all([client.close(), other.close()]);
    await gate.stop();
    await faulty.stop();
    await trap.stop();
  });

  it('has a name for every way there is', () => {
    expect(Object.keys(reasons)).toEqual(Object.keys(faults));
  });

  it.each(Object.entries(reasons).filter(([, reason]) => reason !== undefined))(
    'which %s is answered at once with %s, and others go on (T-157)',
    async (fault, reason) => {
      const going = other.callTool({ name: 'is well', arguments: {} });
      const {
        reason: found,
        message,
        tookMs,
      } = await failureOf(client.callTool({ name: fault, arguments: {} }));
      expect(found).toBe(reason);
      expect(message).toContain('The MCP server Faulty ');
      expect(message).not.toMatch(/127\.0\.0\.1|localhost|<h1>/);
      expect(tookMs).toBeLessThan(1500);
      expect(await going).toMatchObject({ content: [{ text: 'well' }] });
      expect(await client.callTool({ name: 'is well', arguments: {} })).toMatchObject({
        content: [{ text: 'well' }],
      });
      await expect.poll(() => faulty.open()).toBe(0);
    },
  );

  it('lets go of a stream whose caller has given up, and tells the server (T-157)', async () => {
    const giveUp = new AbortController();
    const call = failureOf(
      client.callTool({ name: 'drips an event', arguments: {} }, undefined, { signal: giveUp.signal }),
    );
    await expect.poll(() => faulty.open()).toBe(1);
    giveUp.abort();
    await call;
    await expect.poll(() => faulty.open()).toBe(0);
  });

  it('sends nothing to where a redirect or a challenge points (T-157, T-161)', () => {
    expect(trap.received).toEqual([]);
    expect(faulty.received.filter(({ url }) => url !== '/mcp')).toEqual([]);
  });

  it('stands in the log with its name, and how often (T-194)', () => {
    const lines = gate.log.map((line) => JSON.parse(line) as Record<string, unknown>);
    const told = new Set(
      lines.filter(({ backend }) => backend === 'Faulty').flatMap(({ reason }) => reason ?? []),
    );
    expect([...told].sort()).toEqual([...new Set(Object.values(reasons).filter(Boolean))].sort());
  });
});

describe('a server that cannot be reached', () => {
  const listening = async (server: Server): Promise<number> => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  };
  const silent = () => createTcpServer((socket) => socket.on('error', () => undefined));
  const places: [string, string, () => Promise<string> | string][] = [
    ['at a host that there is not', 'backend_unreachable', () => 'https://nowhere.invalid/mcp'],
    ['at a port where nothing listens', 'backend_unreachable', () => 'http://127.0.0.1:1/mcp'],
    [
      'with a certificate nobody vouches for',
      'backend_certificate_invalid',
      async () => {
        const { key, cert } = createCertificate(['127.0.0.1']);
        const server = createTlsServer({ key, cert }, (_request, response) => response.end());
        return `https://127.0.0.1:${await listening(server)}/mcp`;
      },
    ],
    [
      'without the TLS it is asked for',
      'backend_certificate_invalid',
      async () =>
        `https://127.0.0.1:${await listening(createTcpServer((socket) => socket.end('hello\n')))}/mcp`,
    ],
    [
      'that is silent',
      'backend_unreachable',
      async () => `https://127.0.0.1:${await listening(silent())}/mcp`,
    ],
    [
      'that listens and says nothing',
      'backend_timed_out',
      async () => `http://127.0.0.1:${await listening(silent())}/mcp`,
    ],
    [
      'which speaks no MCP at all',
      'backend_not_mcp',
      async () => {
        const { origin, stop } = await listen(
          (_request, response) => void response.writeHead(404).end('Not here'),
        );
        onTestFinished(stop);
        return `${origin}/mcp`;
      },
    ],
  ];

  it.each(places)('%s is an answer to initialize: %s (T-157)', async (_title, reason, place) => {
    const backend: GatehouseOptions['backend'] = { url: await place(), name: 'Far', ...limits };
    const gate = await startGatehouse({ backend });
    onTestFinished(() => gate.stop());
    const { tookMs, ...found } = await failureOf(connect(gate));
    expect(found).toMatchObject({ reason });
    expect(found.message).toContain('The MCP server Far ');
    expect(tookMs).toBeLessThan(4000);
  });

  it('is not begun where plain http would cross the public internet, unless its operator says why', async () => {
    const backend = { url: 'http://93.184.215.14/mcp', name: 'Far' };
    await expect(startGatehouse({ backend })).rejects.toThrow('use https');
  });
});
