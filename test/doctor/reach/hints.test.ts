import { expect, it } from 'vitest';
import { redirectHints } from '../../../src/doctor/reach/hints.ts';

it('hints name the path of the endpoint, without its slash, for each product', () => {
  const hints = redirectHints('/tools/mcp/');
  expect(hints.map(({ product }) => product)).toEqual(['nginx', 'caddy', 'apache', 'traefik']);
  for (const { lines } of hints) expect(lines).toContain('/tools/mcp');
  expect(hints[0]?.lines).toContain('location /tools/mcp {');
  expect(redirectHints('/')[0]?.lines).toContain('location / {');
});
