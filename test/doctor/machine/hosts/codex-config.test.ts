import { describe, expect, it } from 'vitest';
import { readCodexServers } from '../../../../src/doctor/machine/hosts/codex-config.ts';

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
