import { describe, expect, it } from 'vitest';
import { requireTarget, targetOf } from '../../../src/doctor/reach/target.ts';

describe('where a URL leads', () => {
  it.each([
    ['https://mcp.example.com/mcp', { host: 'mcp.example.com', port: 443, isSecure: true, isAddress: false }],
    ['http://localhost/mcp', { host: 'localhost', port: 80, isSecure: false, isAddress: false }],
    ['http://127.0.0.1:3000/mcp', { host: '127.0.0.1', port: 3000, isSecure: false, isAddress: true }],
    ['https://[::1]:8443/', { host: '::1', port: 8443, isSecure: true, isAddress: true }],
  ])('%s', (url, target) => {
    expect(targetOf({ url })).toMatchObject(target);
    expect(requireTarget({ url }).url.href).toBe(new URL(url).href);
  });

  it.each(['mcp.example.com', 'file:///etc/passwd', ''])('%j leads nowhere', (url) => {
    expect(targetOf({ url })).toBeUndefined();
    expect(() => requireTarget({ url })).toThrow('no http or https URL');
  });
});
