import { expect, it } from 'vitest';
import { protectedName } from '../../../src/cli/commands/protected-name.ts';

it.each([
  ['http://localhost:4801/mcp', 'localhost:4801'],
  ['https://tools.internal/mcp', 'tools.internal'],
  ['npx -y @modelcontextprotocol/server-filesystem /srv/files', '@modelcontextprotocol/server-filesystem'],
  ['/usr/bin/npx -y @scope/name@1.2.3', '@scope/name'],
  ['npx --package some-package some-program', 'some-program'],
  ['npm exec --yes -- some-server@latest', 'some-server'],
  ['uvx mcp-server-git==2025.1.1', 'mcp-server-git'],
  ['uv tool run mcp-server-git', 'mcp-server-git'],
  ['docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server:v1', 'github-mcp-server'],
  ['node --import ./hooks.js dist/server.js --verbose', 'server.js'],
  ['python3 -m notes_server', 'notes_server'],
  ['node', 'node'],
  ['node -e 0', 'node'],
  ['/opt/tools/notes-server secret', 'notes-server'],
  ['./notes.sh', 'notes.sh'],
])('a server without a name is called by what is run: %s', (command, name) => {
  expect(protectedName(command.split(' '))).toBe(name);
});

it('such a name fits the settings', () => {
  expect(protectedName([`/opt/${'a'.repeat(250)}`])).toHaveLength(200);
});
