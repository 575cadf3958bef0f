import { describe, expect, it, vi } from 'vitest';
import { lazyRequest } from '../../../src/mcp/sdk/caller.ts';

const build = () =>
  new Request('https://example.com/mcp?a=1', { method: 'POST', headers: { 'x-test': 'yes' } });

describe('a request that is built when looked at', () => {
  it('is not built before, and once only', () => {
    const builder = { request: vi.fn(build) };
    const request = lazyRequest(builder);
    expect(builder.request).not.toHaveBeenCalled();
    expect([request.method, request.url]).toEqual(['POST', 'https://example.com/mcp?a=1']);
    expect(builder.request).toHaveBeenCalledTimes(1);
  });

  it('is like a request in all a tool does with it', async () => {
    const request = lazyRequest({ request: build });
    expect(request).toBeInstanceOf(Request);
    expect('headers' in request).toBe(true);
    expect(request.headers.get('x-test')).toBe('yes');
    expect(await request.text()).toBe('');
    expect(new Request(lazyRequest({ request: build }).clone()).method).toBe('POST');
    expect(JSON.stringify(request)).toBe('{}');
  });
});
