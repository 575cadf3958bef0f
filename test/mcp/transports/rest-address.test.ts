import { describe, expect, it } from 'vitest';
import { checkRestAddress, loopbackHosts } from '../../../src/mcp/transports/rest-address.ts';

describe('the address of a Rest request', () => {
  it.each([
    ['localhost:9593', undefined, true],
    ['127.0.0.1', 'http://localhost:5173', true],
    ['[::1]:9593', undefined, true],
    ['LOCALHOST:9593', undefined, true],
    ['evil.example:9593', undefined, false],
    ['localhost.evil.example', undefined, false],
    ['localhost@evil.example', undefined, false],
    [undefined, undefined, false],
    ['localhost:9593', 'http://evil.example', false],
    ['localhost:9593', 'null', false],
    ['localhost:9593', '', false],
  ])('with Host %s and Origin %s is good: %s (B3-12, B7-13, T-131)', (host, origin, good) => {
    expect(checkRestAddress({ host, origin }, loopbackHosts)).toBe(good);
  });

  it('is good under the names the operator lists (B7-13)', () => {
    expect(checkRestAddress({ host: 'tools:9593' }, ['tools'])).toBe(true);
    expect(checkRestAddress({ host: 'localhost:9593' }, ['tools'])).toBe(false);
  });
});
