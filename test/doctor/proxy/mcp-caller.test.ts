import { describe, expect, it } from 'vitest';
import { examine } from '../../../src/doctor/examine.ts';
import { type McpCaller, mcpCaller, message } from '../../../src/doctor/proxy/mcp-caller.ts';
import { startServer } from '../support/server.ts';
import { openMcp } from './open-server.ts';

async function call(url: string, token?: string): Promise<McpCaller> {
  const caller = mcpCaller({ ...(token === undefined ? {} : { accessToken: async () => token }) });
  let found: McpCaller | undefined;
  await examine({
    url,
    fetch,
    now: () => 0,
    checks: [
      {
        id: 'CALL',
        section: 'proxy',
        title: '',
        clause: '',
        judge: async (subject) => {
          found = await subject.fact(caller);
          return { verdict: 'pass', saw: '' };
        },
      },
    ],
  });
  if (found === undefined) throw new Error('no call');
  return found;
}

describe('a caller', () => {
  it('opens a session and ends it when the examination is over', async () => {
    const server = await startServer({ fault: openMcp() });
    const found = await call(server.url);
    expect(found).toMatchObject({ kind: 'speaks', sessionId: 'one' });
    expect(server.asked()).toEqual(['POST /mcp', 'POST /mcp', 'DELETE /mcp']);
    expect(server.requests[2]?.headers['mcp-session-id']).toBe('one');
  });

  it('says that a login is needed, and whether it had one', async () => {
    const server = await startServer();
    expect(await call(server.url)).toMatchObject({ kind: 'silent', status: 401, withToken: false });
    expect(await call(server.url, 'wrong')).toMatchObject({ kind: 'silent', status: 401, withToken: true });
    expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer wrong');
  });

  it('says why nobody answers', async () => {
    expect(await call('http://127.0.0.1:1/mcp')).toMatchObject({ kind: 'silent' });
  });

  it('writes JSON-RPC', () => {
    expect(JSON.parse(message('ping', { a: 1 }))).toEqual({
      jsonrpc: '2.0',
      id: 'doctor',
      method: 'ping',
      params: { a: 1 },
    });
  });
});
