// Streams and calls that say nothing for long, through the examples of config/proxies with the proxies' own time limits
// (src/mcp/http/node-reply.ts, src/gateway/backends/stdio/stdio-backend.ts). The full lengths are 150 s of silence and a
// call of five minutes:
//   GATEHOUSE_LONG_STREAMS=1 npx vitest run test/flows/proxies/streams
import { describe, expect, it } from 'vitest';
import { defaultAnswerMs } from '../../../src/doctor/ask.ts';
import { proxyChecks } from '../../../src/doctor/proxy/proxy-checks.ts';
import { examined } from '../../doctor/support/examine.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { startFronted } from './support/fronted.ts';
import { isProxyInstalled, type ProxyProgram } from './support/proxy-program.ts';

const long = Boolean(process.env.GATEHOUSE_LONG_STREAMS);
/** Longer than it takes Gatehouse to say that a stream is alive, at least. */
const quietMs = long ? 150_000 : 21_000;
const callMs = long ? 300_000 : 23_000;

const routes = { slow: { backend: nodeProgram('test/flows/proxies/support/slow-program.ts') } };

/** What came on a stream, and when, in milliseconds since it was opened, until something that is waited for. */
async function readUntil(response: Response, wanted: string): Promise<{ text: string; ms: number }> {
  const began = performance.now();
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(wanted)) break;
  }
  return { text, ms: performance.now() - began };
}

/** Everything but comments and empty lines. */
const saidOn = (text: string): string[] =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith(':'));

async function liveThrough(proxy: ProxyProgram): Promise<void> {
  const front = await startFronted(proxy, 'path', undefined, { routes });
  try {
    const mcpUrl = `${front.origin}/tools/slow/mcp`;
    const { tokens } = await obtainTokens(
      { url: front.gatehouse.url, mcpUrl },
      { scope: 'mcp', scopes: ['mcp'] },
    );
    const headers: Record<string, string> = {
      authorization: `Bearer ${tokens.access_token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    };
    const post = (message: object): Promise<Response> =>
      fetch(mcpUrl, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
    const call = (id: number, name: string, ms: number): Promise<Response> =>
      post({ id, method: 'tools/call', params: { name, arguments: { ms } } });

    const clientInfo = { name: 'patient', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const opened = await post({ id: 1, method: 'initialize', params });
    headers['mcp-session-id'] = opened.headers.get('mcp-session-id') ?? '';
    await opened.text();
    await (await post({ method: 'notifications/initialized' })).text();
    const stream = await fetch(mcpUrl, { headers });
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(await (await call(2, 'grow', quietMs)).text()).toContain('soon');

    const [heard, answered] = await Promise.all([
      readUntil(stream, 'list_changed'),
      call(3, 'wait', callMs).then((response) => readUntil(response, `waited ${callMs} ms`)),
    ]);
    // Nothing was said in between, and it came on the stream that had been opened at the beginning.
    expect(saidOn(heard.text).filter((line) => line.startsWith('data: {'))).toHaveLength(1);
    expect(heard.text).toContain('notifications/tools/list_changed');
    // Both are read for as long, less what a busy machine lets pass until it begins to read.
    expect(heard.ms).toBeGreaterThan(quietMs - 3000);
    expect(answered.text).toContain(`waited ${callMs} ms`);
    expect(answered.ms).toBeGreaterThan(callMs - 3000);

    const checks = proxyChecks({
      idleSeconds: long ? 75 : 2,
      accessToken: async () => tokens.access_token,
    });
    expect((await examined(mcpUrl, checks, { timeoutMs: defaultAnswerMs })).bad()).toEqual([]);
  } finally {
    await front.stop();
  }
}

describe('with a path prefix, TLS and their own time limits', () => {
  const proxies: ProxyProgram[] = ['nginx', 'apache2', 'haproxy', 'caddy'];
  it.concurrent.each(proxies.filter(isProxyInstalled))(
    `%s keeps a stream that is quiet for ${quietMs / 1000} s and a call of ${callMs / 1000} s (C4-06)`,
    { timeout: callMs + 180_000 },
    liveThrough,
  );
});
