import { expect, it } from 'vitest';
import { publicAddressHints, wellKnownHints } from '../../../src/doctor/resource/hints.ts';

it('hints are lines for each product', () => {
  for (const hints of [wellKnownHints, publicAddressHints])
    expect(hints.map(({ product }) => product).sort()).toEqual(['apache', 'caddy', 'nginx', 'traefik']);
  for (const { lines } of wellKnownHints) expect(lines).toContain('/.well-known/oauth-protected-resource');
});
