import { describe, expect, it } from 'vitest';
import { hostPlaces, readCodexServers, readHosts } from '../../../../src/doctor/machine/hosts/read-hosts.ts';
import { put, serverUrl, testMachine } from '../test-machine.ts';

describe('configurations of hosts', () => {
  it('are none on a machine without hosts', async () => {
    expect(await readHosts(testMachine())).toEqual([]);
  });

  it('are read in the form of each host', async () => {
    const machine = testMachine();
    put(machine.home, '.config/Claude/claude_desktop_config.json', {
      mcpServers: { bridged: { command: 'npx', args: ['mcp-remote', serverUrl] } },
    });
    put(machine.home, '.claude.json', {
      mcpServers: { all: { type: 'http', url: serverUrl } },
      projects: { [machine.workingFolder]: { mcpServers: { here: { type: 'http', url: serverUrl } } } },
    });
    put(machine.workingFolder, '.vscode/mcp.json', `{ "servers": { "code": { "url": "${serverUrl}" }, } }`);
    put(machine.home, '.codeium/windsurf/mcp_config.json', { mcpServers: { surf: { serverUrl } } });
    put(machine.home, '.gemini/settings.json', { mcpServers: { gemini: { httpUrl: serverUrl } } });
    put(machine.home, '.config/opencode/opencode.json', {
      mcp: { open: { type: 'remote', url: serverUrl } },
    });
    put(machine.home, '.codex/config.toml', `[mcp_servers.codex]\nurl = "${serverUrl}"\n`);
    const entries = (await readHosts(machine)).flatMap((file) => file.entries);
    expect(entries.map(({ name, url }) => [name, url])).toEqual(
      ['bridged', 'all', 'here', 'code', 'surf', 'gemini', 'open', 'codex'].map((name) => [name, serverUrl]),
    );
  });

  it('that are broken say so without repeating what stands in them', async () => {
    const machine = testMachine();
    put(
      machine.home,
      '.cursor/mcp.json',
      '{"mcpServers": {"a": {"headers": {"Authorization": secret-value}}}}',
    );
    const [file] = await readHosts(machine);
    expect(file).toMatchObject({ host: 'Cursor', entries: [], fault: 'it is no JSON' });
    expect(JSON.stringify(file)).not.toContain('secret-value');
  });
});

describe('the servers of a Codex configuration', () => {
  it('are its mcp_servers tables, with what stands below them', () => {
    const text = `
model = "gpt"
[mcp_servers.docs]
url = "https://mcp.example.com/mcp"   # the server
http_headers = { "Authorization" = "Bearer x", X-Team = "a" }
[mcp_servers."a bridge"]
command = 'npx'
args = ["-y", "mcp-remote", "https://mcp.example.com/mcp"]
[mcp_servers.docs.env]
TOKEN = "t"
[profiles.other]
url = "https://not-a-server.example"
`;
    expect(readCodexServers(text)).toEqual({
      docs: {
        url: 'https://mcp.example.com/mcp',
        http_headers: { Authorization: 'Bearer x', 'X-Team': 'a' },
        env: { TOKEN: 't' },
      },
      'a bridge': { command: 'npx', args: ['-y', 'mcp-remote', 'https://mcp.example.com/mcp'] },
    });
  });

  it('are none in a file without such tables', () => {
    expect(readCodexServers('model = "gpt"\n')).toEqual({});
  });
});

describe('places of hosts', () => {
  function filesOn(platform: NodeJS.Platform, env: Record<string, string> = {}): string[] {
    return hostPlaces(testMachine({ platform, home: '/home/a', workingFolder: '/project', env })).map(
      ({ file }) => file,
    );
  }

  describe('places of host configurations', () => {
    it('stand where each platform keeps settings', () => {
      expect(filesOn('linux')).toContain('/home/a/.config/Claude/claude_desktop_config.json');
      expect(filesOn('darwin')).toContain(
        '/home/a/Library/Application Support/Claude/claude_desktop_config.json',
      );
      expect(filesOn('win32', { APPDATA: '/roaming' })).toContain(
        '/roaming/Claude/claude_desktop_config.json',
      );
    });

    it('include those of the working folder, and follow variables', () => {
      expect(filesOn('linux')).toEqual(
        expect.arrayContaining([
          '/project/.vscode/mcp.json',
          '/project/.cursor/mcp.json',
          '/project/.mcp.json',
        ]),
      );
      expect(filesOn('linux', { CODEX_HOME: '/codex', XDG_CONFIG_HOME: '/xdg' })).toEqual(
        expect.arrayContaining(['/codex/config.toml', '/xdg/opencode/opencode.json']),
      );
    });
  });
});
