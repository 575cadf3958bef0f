import { expect, it } from 'vitest';
import { createRouteNames } from '../../src/app/route-name.ts';

it.each([
  ['', '/mcp', '/mcp'],
  ['', '/mcp/', '/mcp'],
  ['', '/interaction/a-uid/login', '/interaction'],
  ['', '/.well-known/oauth-authorization-server', '/.well-known'],
  ['', '/wp-login.php', 'other'],
  ['', '/', 'other'],
  ['/tools', '/tools/mcp', '/mcp'],
  ['/tools', '/.well-known/oauth-protected-resource/tools/mcp', '/.well-known'],
  ['/tools', '/tools-of-others/mcp', 'other'],
])('below %j, %s is counted as %s', (base, path, name) => {
  const nameOf = createRouteNames(base, ['/mcp', '/interaction/', '/.well-known/x', '/token']);
  expect(nameOf(path)).toBe(name);
});
