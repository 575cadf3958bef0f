import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { answerMetrics } from '../../src/app/http-server.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { startGatehouse } from '../support/gatehouse.ts';
import { obtainTokens, tryAccess } from '../support/oauth.ts';

/** Listens for one test; gives where. */
async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('answers GET /metrics and nothing else', async () => {
  const url = await listen(answerMetrics(createMetrics('1')));
  const answer = await fetch(`${url}/metrics`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    expect.stringMatching(/^text\/plain/),
  ]);
  expect(await answer.text()).toContain('gatehouse_build_info');
  expect((await fetch(`${url}/`)).status).toBe(404);
  const posted = await fetch(`${url}/metrics`, { method: 'POST' });
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

it('is told of by a gatehouse: requests, events, sessions and calls, and never who or what with (T-113, T-194)', async () => {
  const gatehouse = await startGatehouse();
  onTestFinished(() => gatehouse.stop());
  const { clientId, tokens } = await obtainTokens(gatehouse);
  expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
  expect(await tryAccess(gatehouse.mcpUrl, 'garbage')).toBe(401);
  await fetch(`${gatehouse.url}/some/strange/path`);
  const text = await (await fetch(`${await listen(gatehouse.serveMetrics)}/metrics`)).text();
  for (const line of [
    'gatehouse_http_request_duration_seconds_count{route="/token",status="2xx"} 1',
    'gatehouse_http_request_duration_seconds_count{route="/mcp",status="2xx"} 1',
    'gatehouse_http_request_duration_seconds_count{route="/mcp",status="4xx"} 1',
    'gatehouse_http_request_duration_seconds_count{route="other",status="4xx"} 1',
    'gatehouse_events_total{event="login.succeeded"} 1',
    'gatehouse_events_total{event="token.issued"} 1',
    'gatehouse_mcp_sessions 1',
    'gatehouse_mcp_calls_running 0',
  ])
    expect(text).toContain(line);
  for (const secret of [clientId, tokens.access_token, 'ada@', 'strange', 'acct_'])
    expect(text).not.toContain(secret);
  expect((await fetch(`${gatehouse.url}/metrics`)).status).toBe(404);
});
