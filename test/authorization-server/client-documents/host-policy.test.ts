import { describe, expect, it } from 'vitest';
import { createHostPolicy } from '../../../src/authorization-server/client-documents/host-policy.ts';

describe('the policy on hosts of documents', () => {
  it('takes those of any host where none is named', () => {
    const isAllowed = createHostPolicy({ allowedHosts: [], deniedHosts: [] });
    expect(isAllowed('app.example.com')).toBe(true);
    expect(isAllowed('')).toBe(false);
  });

  it('takes those of allowed hosts alone, and of no denied one (T-078)', () => {
    const isAllowed = createHostPolicy({
      allowedHosts: ['claude.ai', '*.example.com', 'xn--bcher-kva.example'],
      deniedHosts: ['bad.example.com', '*.worse.example.com'],
    });
    const hosts = [
      'claude.ai',
      'CLAUDE.AI',
      'claude.ai.',
      'a.example.com',
      'a.b.example.com',
      'bücher.example',
    ];
    expect(hosts.filter((host) => !isAllowed(host))).toEqual([]);
    const tricks = [
      'example.com',
      'evil.ai',
      'xclaude.ai',
      'claude.ai.evil.example',
      'sub.claude.ai',
      'notexample.com',
    ];
    const denied = ['bad.example.com', 'BAD.example.com.', 'a.worse.example.com', 'xn--buecher-kva.example'];
    expect([...tricks, ...denied].filter((host) => isAllowed(host))).toEqual([]);
  });
});
