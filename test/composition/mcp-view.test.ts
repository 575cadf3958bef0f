import { describe, expect, it, vi } from 'vitest';
import { viewMcp } from '../../src/composition/mcp-view.ts';

const issuer = 'https://mcp.example.com';
const own = [`${issuer}/mcp`];

/** The view on an endpoint that says what it was asked. */
function view() {
  const endpoint = {
    toolsOf: vi.fn(async () => undefined),
    accountSessions: {
      list: vi.fn(async () => []),
      end: vi.fn(async () => true),
      endOfGrant: vi.fn(async () => undefined),
    },
  };
  return { endpoint, ...viewMcp(() => endpoint, { issuer, own, accessTokenSeconds: 60, now: () => 1000 }) };
}

describe('what the authorization server sees of the MCP endpoint', () => {
  it('is made before the endpoint is', () => {
    const late = () => {
      throw new Error('there is no endpoint yet');
    };
    expect(() => viewMcp(late, { issuer, own, accessTokenSeconds: 60, now: () => 0 })).not.toThrow();
  });

  it('asks for the tools of its own resources as a caller would, and never for those of others', async () => {
    const { endpoint, toolsOf } = view();
    const asked = { accountId: 'ada', clientId: 'app', scopes: ['read'] };
    await toolsOf({ ...asked, resource: 'https://other.example/mcp' });
    expect(endpoint.toolsOf).not.toHaveBeenCalled();
    await toolsOf({ ...asked, resource: `${issuer}/mcp` });
    expect(endpoint.toolsOf).toHaveBeenCalledExactlyOnceWith({
      issuer,
      subject: 'ada',
      clientId: 'app',
      scopes: ['read'],
      audience: `${issuer}/mcp`,
      expiresAt: 1060,
    });
  });

  it('names accounts with their issuer (T-124)', async () => {
    const { endpoint, mcpConnections } = view();
    const ada = { issuer, subject: 'ada' };
    const app = { clientId: 'app', grantId: 'g' };
    await mcpConnections.list('ada');
    expect(await mcpConnections.end('ada', 'key')).toBe(true);
    await mcpConnections.endOfGrant('ada', app);
    expect(endpoint.accountSessions.list).toHaveBeenCalledWith(ada);
    expect(endpoint.accountSessions.end).toHaveBeenCalledWith(ada, 'key');
    expect(endpoint.accountSessions.endOfGrant).toHaveBeenCalledWith(ada, app);
  });
});
