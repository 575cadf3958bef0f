import { describe, expect, it } from 'vitest';
import { seen } from './open-server.ts';

describe('PROXY-CACHING', () => {
  it.each([
    ['age', '17'],
    ['x-cache', 'HIT from edge'],
    ['cf-cache-status', 'HIT'],
  ])('finds a refusal out of a cache by %s: %s', async (name, value) => {
    const found = await seen('PROXY-CACHING', (server) =>
      server.change('GET /mcp', (reply) => ({ ...reply, headers: { ...reply.headers, [name]: value } })),
    );
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('came from a cache') });
  });

  it('finds a cache that says nothing, by what it mixes up', async () => {
    const found = await seen('PROXY-CACHING', (server) => {
      const sound = server.routes['GET /mcp'];
      let kept: unknown;
      if (sound)
        server.routes['GET /mcp'] = async (request) => {
          kept ??= await sound(request);
          return kept as object;
        };
    });
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('a cache gave it') });
  });

  it('warns of metadata kept for nobody knows how long', async () => {
    const found = await seen('PROXY-CACHING', (server) =>
      server.change('GET /.well-known/oauth-protected-resource/mcp', (reply) => ({
        ...reply,
        headers: { age: '9' },
      })),
    );
    expect(found.verdict).toBe('warn');
  });

  it('passes without a cache', async () => {
    expect(await seen('PROXY-CACHING')).toMatchObject({ verdict: 'pass' });
  });
});
