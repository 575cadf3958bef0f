import { expect, it } from 'vitest';
import { isOwnHeader } from '../../src/oauth/own-headers.ts';

it.each(['Host', 'content-length', 'TE', 'Mcp-Name', 'mcp-param-region', 'Proxy-Connection', 'proxy-x'])(
  '%s is a header that a request has of its own (T-159)',
  (name) => {
    expect(isOwnHeader(name)).toBe(true);
  },
);

it.each(['authorization', 'x-api-key', 'mcp-tenant', 'x-proxy-key', 'cookie'])(
  '%s is nothing that a request says itself',
  (name) => {
    expect(isOwnHeader(name)).toBe(false);
  },
);
