import { describe, expect, it } from 'vitest';
import {
  describePlace,
  publicAddressHints,
  resourceDocument,
  resourcePlaces,
  wellKnownHints,
} from '../../../src/doctor/resource/places.ts';
import { type Fault, routeNames, startServer } from '../support/server.ts';
import { subjectOf } from '../support/view.ts';

async function opened(fault?: Fault) {
  const server = await startServer(fault ? { fault } : {});
  return { server, subject: subjectOf(server.url) };
}

const naming =
  (place: (origin: string) => string): Fault =>
  (server) => {
    server.change(routeNames.mcp, (reply) => ({
      ...reply,
      headers: { 'www-authenticate': `Bearer resource_metadata="${place(server.origin)}"` },
    }));
    server.routes['GET /meta'] = () => ({
      json: { resource: server.url, authorization_servers: ['https://challenged'] },
    });
  };

describe('the places of protected resource metadata', () => {
  it('are asked all of them, with the path first (A3-05)', async () => {
    const { server, subject } = await opened();
    const places = await resourcePlaces(subject);
    expect(places.map(({ named, url }) => `${named}: ${url}`)).toEqual([
      `with the path: ${server.origin}/.well-known/oauth-protected-resource/mcp`,
      `at the root: ${server.origin}/.well-known/oauth-protected-resource`,
    ]);
    expect(places.map(describePlace)[0]).toContain('/mcp: 200 application/json');
  });

  it('begin with that of the challenge, whose document counts (A3-04)', async () => {
    const { server, subject } = await opened(naming((origin) => `${origin}/meta`));
    const [first] = await resourcePlaces(subject);
    expect(first).toMatchObject({ named: 'by the challenge', url: `${server.origin}/meta` });
    expect((await resourceDocument(subject))?.members.authorization_servers).toEqual(['https://challenged']);
  });

  it('are never on another origin, whatever the challenge says (T-185)', async () => {
    const { subject } = await opened(naming(() => 'http://169.254.169.254/latest'));
    const places = await resourcePlaces(subject);
    expect(places.map(({ named }) => named)).toEqual(['with the path', 'at the root']);
    expect(subject.exchanges.every(({ request }) => request.url.startsWith('http://127.0.0.1'))).toBe(true);
  });
});

describe('hints', () => {
  it('hints are lines for each product', () => {
    for (const hints of [wellKnownHints, publicAddressHints])
      expect(hints.map(({ product }) => product).sort()).toEqual(['apache', 'caddy', 'nginx', 'traefik']);
    for (const { lines } of wellKnownHints) expect(lines).toContain('/.well-known/oauth-protected-resource');
  });
});
