import { describe, expect, it } from 'vitest';
import { internalFault } from '../../src/doctor/internal-host.ts';

const called = 'https://mcp.example.com/mcp';

describe('an address that a server publishes', () => {
  it.each([
    ['http://backend:8080/mcp', 'the host backend, a name of an inner network'],
    ['https://mcp.default.svc.cluster.local/mcp', 'a name of an inner network'],
    ['http://app.internal/mcp', 'app.internal'],
    ['http://localhost:3000/mcp', 'localhost, which clients cannot reach'],
    ['http://10.1.2.3/mcp', '10.1.2.3, which clients cannot reach'],
    ['http://[::1]:3000/mcp', '[::1], which clients cannot reach'],
    ['http://mcp.example.com/mcp', 'is http, while the server is called by https'],
  ])('leads into the inner network: %s', (published, why) => {
    expect(internalFault(published, called)).toContain(why);
  });

  it.each(['https://mcp.example.com/mcp', 'https://login.example.com', 'https://8.8.8.8/', 'nonsense'])(
    'is fit for clients, or no matter of this rule: %s',
    (published) => {
      expect(internalFault(published, called)).toBeUndefined();
    },
  );

  it('may be local where the server is', () => {
    expect(internalFault('http://localhost:3001', 'http://127.0.0.1:3000/mcp')).toBeUndefined();
    expect(internalFault('http://192.168.1.5/', 'http://localhost:3000/mcp')).toBeUndefined();
  });
});
