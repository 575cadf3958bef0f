import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../src/options.ts';

const placeholder = ['$', '{TOKEN}'].join('');

describe('MCP servers as desktop hosts write them down', () => {
  it('become routes, with names for paths, and what they are called for people', () => {
    const { routes, mcpServers } = parseSettings({
      mcpServers: {
        'My Files (work)': { command: 'npx', args: ['-y', 'files'], env: { TOKEN: placeholder } },
        remote: { type: 'streamable-http', url: 'https://tools.example/mcp', headers: { 'X-Key': 'k' } },
        old: { type: 'sse', url: 'https://old.example/sse', timeout: 60, alwaysAllow: ['a'] },
        away: { command: 'away', disabled: true },
      },
    });
    expect(mcpServers).toEqual({});
    expect(Object.keys(routes)).toEqual(['my-files-work', 'remote', 'old']);
    expect(routes['my-files-work']).toMatchObject({
      name: 'My Files (work)',
      backend: { command: 'npx', args: ['-y', 'files'], env: { TOKEN: placeholder } },
    });
    expect(routes.remote?.backend).toMatchObject({
      url: 'https://tools.example/mcp',
      transport: 'http',
      headers: { 'X-Key': 'k' },
    });
    expect(routes.old?.backend).toMatchObject({ transport: 'sse' });
  });

  it('are the same settings when those are read again', () => {
    const once = parseSettings({ mcpServers: { a: { command: 'a' } } });
    expect(parseSettings(once)).toEqual(once);
  });

  it.each([
    [
      { a: { command: 'a' }, A: { command: 'b' } },
      'mcpServers.A: its route would be a, which is there already',
    ],
    [{ 文件: { command: 'a' } }, 'mcpServers.文件: its name needs letters or digits of ASCII'],
    [{ a: {} }, 'mcpServers.a: needs command, a program, or url: one of them'],
    [{ a: { command: 'a', url: 'https://a.example/' } }, 'mcpServers.a: needs command'],
    [{ a: { command: 'a', type: 'http' } }, 'mcpServers.a: type: http is for a server with a url'],
    [
      { a: { url: 'https://a.example/', type: 'stdio' } },
      'mcpServers.a: type: stdio is for a server with a command',
    ],
    [{ a: { command: 'a', cwd: '/' } }, 'mcpServers.a.cwd: there is no such setting'],
    [{ a: { comand: 'a' } }, 'did you mean command?'],
    [{ token: { command: 'a' } }, 'routes.token.path: /token is taken'],
  ])('are refused where they cannot be served: %j', (mcpServers, sentence) => {
    expect(() => parseSettings({ mcpServers: mcpServers as object })).toThrow(sentence);
  });

  it('may not have the name of a route', () => {
    const routes = { files: { backend: { command: 'a' } } };
    expect(() => parseSettings({ routes, mcpServers: { Files: { command: 'b' } } })).toThrow(
      'mcpServers.Files: its route would be files',
    );
  });
});
