import { expect, it } from 'vitest';
import { createRouteNames } from '../../src/app/request-log.ts';

it.each([
  ['', '/mcp', '/mcp'],
  ['', '/mcp/', '/mcp'],
  ['', '/interaction/a-uid/login', '/interaction'],
  ['', '/.well-known/oauth-authorization-server', '/.well-known'],
  ['', '/wp-login.php', 'other'],
  ['', '/', 'other'],
  ['/tools', '/tools/mcp', '/mcp'],
  ['', '/notes/mcp', '/notes/mcp'],
  ['/tools', '/tools/notes/mcp/', '/notes/mcp'],
  ['', '/notes/other', 'other'],
  ['', '/files/mcp', 'other'],
  ['/tools', '/.well-known/oauth-protected-resource/tools/mcp', '/.well-known'],
  ['/tools', '/tools-of-others/mcp', 'other'],
])('below %j, %s is counted as %s', (base, path, name) => {
  const nameOf = createRouteNames(base, ['/interaction/', '/.well-known/x', '/token'], (server) =>
    ['/mcp', '/notes/mcp'].includes(server),
  );
  expect(nameOf(path)).toBe(name);
});
