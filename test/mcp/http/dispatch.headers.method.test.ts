import { describe, expect, it } from 'vitest';
import { checkMethod } from '../../../src/mcp/http/dispatch.ts';

describe('the HTTP method', () => {
  it.each(['GET', 'POST', 'DELETE'])('%s is served up to 2025-11-25 (B3-01)', (method) => {
    expect(checkMethod(method, undefined)).toBeUndefined();
    expect(checkMethod(method, '2025-11-25')).toBeUndefined();
  });

  it.each(['HEAD', 'PUT', 'PATCH', 'get', 'TRACE'])('%s is refused with those that are allowed', (method) => {
    expect(checkMethod(method, undefined)).toEqual({
      reason: 'method_not_allowed',
      headers: { Allow: 'GET, POST, DELETE' },
    });
  });

  it.each(['GET', 'DELETE'])(
    '%s is refused from 2026-07-28 on, where there is POST alone (B5-01)',
    (method) => {
      expect(checkMethod(method, ' 2026-07-28')).toEqual({
        reason: 'method_not_allowed',
        headers: { Allow: 'POST' },
      });
      expect(checkMethod('POST', '2026-07-28')).toBeUndefined();
    },
  );

  it('is not judged by a version that is none: the session refuses that later (B3-17)', () => {
    expect(checkMethod('GET', 'zzz')).toBeUndefined();
  });
});
