import { describe, expect, it } from 'vitest';
import { createServerTransport } from '../../../src/client/index.ts';

describe('a transport to a URL', () => {
  it('streams each request of its own over streamable HTTP alone, so that closing one cancels it (B5-14)', () => {
    const options = { url: 'http://127.0.0.1/mcp', fetch: globalThis.fetch };
    const streams = (['http', 'sse', 'rest'] as const).map(
      (kind) => createServerTransport(kind, options).hasPerRequestStream,
    );
    expect(streams).toEqual([true, false, false]);
  });

  it('of Rest is refused without TLS but on loopback', () => {
    const options = { url: 'http://mcp.example.com/rest', fetch: globalThis.fetch };
    expect(() => createServerTransport('rest', options)).toThrow('use https');
  });
});
