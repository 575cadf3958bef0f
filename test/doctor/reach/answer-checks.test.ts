import { describe, expect, it } from 'vitest';
import { passiveChecks } from '../../../src/doctor/all-checks.ts';
import { answerChecks, redirectHints } from '../../../src/doctor/reach/answer-checks.ts';
import { examined } from '../support/examine.ts';
import { type Fault, routeNames, startServer } from '../support/server.ts';

async function report(fault: Fault, checks = passiveChecks) {
  return examined((await startServer({ fault })).url, checks);
}

const everything: Fault = ({ routes }) => {
  routes[routeNames.mcp] = () => ({ json: { jsonrpc: '2.0', id: 'doctor', result: {} } });
  routes['GET /mcp'] = () => ({ status: 405 });
};

describe('the first answer', () => {
  it('that never comes is a failure of its own', async () => {
    const found = await report(({ routes }) => {
      routes[routeNames.mcp] = () => ({ raw: () => undefined });
    });
    expect(found.bad()).toEqual(['fail REACH-ANSWER']);
    expect(found.finding('REACH-ANSWER')).toMatchObject({
      saw: expect.stringContaining('no answer in time'),
      fix: expect.stringContaining('proxy'),
    });
    expect(found.finding('CHALLENGE-STATUS').because).toBe('REACH-ANSWER');
  });

  it('that serves everybody is unknown, never pass: nobody can tell whether that is meant', async () => {
    const found = await report((server) => {
      everything(server);
      for (const name of Object.keys(server.routes))
        if (name.includes('.well-known')) delete server.routes[name];
    });
    expect(found.bad()).toEqual([]);
    expect(found.finding('CHALLENGE-STATUS').verdict).toBe('unknown');
    expect(found.finding('CHALLENGE-OPEN')).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringContaining('serves everybody'),
    });
    expect(found.finding('CHALLENGE-HEADER')).toMatchObject({
      verdict: 'skip',
      saw: 'The server refuses nobody.',
    });
    expect(found.finding('PRM-FOUND').verdict).toBe('skip');
  });

  it('that is open only to begin is judged by the refusal that follows', async () => {
    const found = await report(
      (server) =>
        server.change(routeNames.mcp, (reply, { body }) =>
          body.includes('"initialize"') ? { json: { jsonrpc: '2.0', id: 'doctor', result: {} } } : reply,
        ),
      answerChecks,
    );
    expect(found.finding('CHALLENGE-STATUS')).toMatchObject({
      verdict: 'pass',
      saw: expect.stringContaining('initialize is open to everybody'),
    });
    expect(found.finding('CHALLENGE-OPEN').verdict).toBe('unknown');
  });

  it('of an old server, which refuses only GET, is a warning', async () => {
    const found = await report(({ routes }) => {
      routes[routeNames.mcp] = () => ({ status: 405 });
    }, answerChecks);
    expect(found.finding('CHALLENGE-STATUS')).toMatchObject({
      verdict: 'warn',
      saw: expect.stringContaining('Only GET asks for a token'),
    });
  });

  it('from a cache is a warning', async () => {
    const found = await report(
      (server) =>
        server.change(routeNames.mcp, (reply) => ({
          ...reply,
          headers: { ...reply.headers, 'cf-cache-status': 'HIT' },
        })),
      answerChecks,
    );
    expect(found.finding('CHALLENGE-CACHE')).toMatchObject({
      verdict: 'warn',
      saw: expect.stringContaining('"HIT"'),
    });
  });
});

describe('hints', () => {
  it('hints name the path of the endpoint, without its slash, for each product', () => {
    const hints = redirectHints('/tools/mcp/');
    expect(hints.map(({ product }) => product)).toEqual(['nginx', 'caddy', 'apache', 'traefik']);
    for (const { lines } of hints) expect(lines).toContain('/tools/mcp');
    expect(hints[0]?.lines).toContain('location /tools/mcp {');
    expect(redirectHints('/')[0]?.lines).toContain('location / {');
  });
});
