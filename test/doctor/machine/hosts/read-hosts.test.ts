import { describe, expect, it } from 'vitest';
import { readHosts } from '../../../../src/doctor/machine/hosts/read-hosts.ts';
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
