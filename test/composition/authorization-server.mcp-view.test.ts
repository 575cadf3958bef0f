import { describe, expect, it, vi } from 'vitest';
import { viewMcp } from '../../src/composition/authorization-server.ts';

const issuer = 'https://mcp.example.com';

/** A route whose endpoint says what it was asked, and has one session. */
function route(name: string, usedAt = 1) {
  const mcpEndpoint = {
    toolsOf: vi.fn(async () => undefined),
    accountSessions: {
      list: vi.fn(async () => [{ key: `of ${name}`, clientId: 'app', createdAt: 1, usedAt }]),
      end: vi.fn(async (_account: object, key: string) => key === `of ${name}`),
      endOfGrant: vi.fn(async () => undefined),
    },
  };
  return { server: { name }, own: { mcp: `${issuer}/${name}/mcp` }, mcpEndpoint };
}

function view(...all: ReturnType<typeof route>[]) {
  return viewMcp({ all }, { issuer, accessTokenSeconds: 60, now: () => 1000 });
}

const ada = { issuer, subject: 'ada' };

describe('what the authorization server sees of the MCP servers', () => {
  it('asks for the tools of its own resources as a caller would, and never for those of others (FA-60)', async () => {
    const [notes, files] = [route('notes'), route('files')];
    const { toolsOf } = view(notes, files);
    const asked = { accountId: 'ada', clientId: 'app', scopes: ['read'] };
    expect(await toolsOf({ ...asked, resource: 'https://other.example/mcp' })).toBeUndefined();
    expect(await toolsOf({ ...asked, resource: `${issuer}/files/mcp` })).toBe('not_yet');
    expect(notes.mcpEndpoint.toolsOf).not.toHaveBeenCalled();
    expect(files.mcpEndpoint.toolsOf).toHaveBeenCalledExactlyOnceWith({
      ...ada,
      clientId: 'app',
      scopes: ['read'],
      audience: `${issuer}/files/mcp`,
      expiresAt: 1060,
    });
  });

  it('is no tool of a backend that learns about its callers: it learns nothing before the decision', async () => {
    const told = { ...route('told'), backend: {} };
    told.server = { name: 'told', learns: ['email'] } as typeof told.server;
    const asked = { accountId: 'ada', clientId: 'app', scopes: ['read'], resource: `${issuer}/told/mcp` };
    expect(await view(told).toolsOf(asked)).toBeUndefined();
    expect(told.mcpEndpoint.toolsOf).not.toHaveBeenCalled();
  });

  it('is that of routes which come later, too', async () => {
    const routes: { all: ReturnType<typeof route>[] } = { all: [] };
    const { mcpConnections } = viewMcp(routes, { issuer, accessTokenSeconds: 60, now: () => 0 });
    expect(await mcpConnections.list('ada')).toEqual([]);
    routes.all = [route('notes')];
    expect(await mcpConnections.list('ada')).toHaveLength(1);
  });

  it('is the sessions of an account at all of them, last used first, each with its server (T-124)', async () => {
    const [notes, files] = [route('notes', 1), route('files', 2)];
    const sessions = await view(notes, files).mcpConnections.list('ada');
    expect(sessions.map(({ key, server }) => [key, server])).toEqual([
      ['of files', 'files'],
      ['of notes', 'notes'],
    ]);
    expect(notes.mcpEndpoint.accountSessions.list).toHaveBeenCalledWith(ada);
    expect(await view(notes).mcpConnections.list('ada')).toEqual([
      { key: 'of notes', clientId: 'app', createdAt: 1, usedAt: 1 },
    ]);
  });

  it('ends a session where it is, and those of a grant everywhere (T-124)', async () => {
    const [notes, files] = [route('notes'), route('files')];
    const { mcpConnections } = view(notes, files);
    const app = { clientId: 'app', grantId: 'g' };
    expect(await mcpConnections.end('ada', 'of files')).toBe(true);
    expect(await mcpConnections.end('ada', 'of nobody')).toBe(false);
    expect(files.mcpEndpoint.accountSessions.end).toHaveBeenCalledWith(ada, 'of files');
    await mcpConnections.endOfGrant('ada', app);
    for (const { mcpEndpoint } of [notes, files])
      expect(mcpEndpoint.accountSessions.endOfGrant).toHaveBeenCalledWith(ada, app);
  });
});
