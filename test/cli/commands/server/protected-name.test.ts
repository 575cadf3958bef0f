import { expect, it } from 'vitest';
import { protectedName } from '../../../../src/cli/commands/server/protected-name.ts';

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
  ['python3 -u server.py sk-live-secret', 'server.py'],
  ['uv run --directory /opt/weather weather.py', 'weather.py'],
  ['docker run --env=API=abc img', 'img'],
])('a server without a name is called by what is run: %s', (command, name) => {
  expect(protectedName(command.split(' '))).toBe(name);
});

it.each([
  ['ruby -w server.rb sk-secret', 'ruby'],
  ['deno run -A -r mod.ts sk-secret', 'deno'],
  ['uvx -v pkg sk-secret', 'uvx'],
  ['npx --registry https://TOKEN@npm.example pkg', 'npx'],
  ['npx git+https://TOKEN@github.example/x/y', 'npx'],
  ['docker run -l API=abc img', 'docker'],
  ['uv --directory /opt/weather run weather.py', 'uv'],
])(
  'of a command whose options it does not know it takes no argument for the name, which may be a secret: %s',
  (command, name) => {
    expect(protectedName(command.split(' '))).toBe(name);
  },
);

it('such a name fits the settings', () => {
  expect(protectedName([`/opt/${'a'.repeat(250)}`])).toHaveLength(200);
});
