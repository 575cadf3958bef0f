import { describe, expect, it } from 'vitest';
import { checkRestAddress, loopbackHosts } from '../../../src/mcp/rest/server-transport.ts';

describe('the address of a Rest request', () => {
  it.each([
    ['localhost:9593', undefined, undefined],
    ['127.0.0.1', 'http://localhost:5173', undefined],
    ['[::1]:9593', undefined, undefined],
    ['LOCALHOST:9593', undefined, undefined],
    ['evil.example:9593', undefined, 'Host'],
    ['localhost.evil.example', undefined, 'Host'],
    ['localhost@evil.example', undefined, 'Host'],
    [undefined, undefined, 'Host'],
    ['localhost:9593', 'http://evil.example', 'Origin'],
    ['localhost:9593', 'null', 'Origin'],
    ['localhost:9593', '', 'Origin'],
  ])('with Host %s and Origin %s is refused for: %s (B3-12, B7-13, T-131)', (host, origin, refused) => {
    expect(checkRestAddress({ host, origin }, loopbackHosts)).toBe(refused);
  });

  it('is good under the names the operator lists (B7-13)', () => {
    expect(checkRestAddress({ host: 'tools:9593' }, ['tools'])).toBeUndefined();
    expect(checkRestAddress({ host: 'localhost:9593' }, ['tools'])).toBe('Host');
  });
});
