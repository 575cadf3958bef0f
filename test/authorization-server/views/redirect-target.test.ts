import { describe, expect, it } from 'vitest';
import { describeRedirectTarget } from '../../../src/authorization-server/views/redirect-target.ts';

describe('describeRedirectTarget', () => {
  it('tells a loopback redirect, behind which any app on this computer can be (A5-09, T-077)', () => {
    for (const [uri, host] of [
      ['http://127.0.0.1:53682/callback', '127.0.0.1'],
      ['http://localhost:3334/oauth/callback', 'localhost'],
      ['http://[::1]:8080/cb', '[::1]'],
    ]) {
      expect(describeRedirectTarget(String(uri))).toEqual({ kind: 'loopback', name: host });
    }
  });

  it('names the host of an https redirect, with a port that is not the default (A5-09)', () => {
    expect(describeRedirectTarget('https://claude.ai/api/mcp/auth_callback')).toEqual({
      kind: 'host',
      name: 'claude.ai',
    });
    expect(describeRedirectTarget('https://app.example.com:8443/cb').name).toBe('app.example.com:8443');
  });

  it('shows a host that is not ASCII as punycode, and takes it in no other form (T-060)', () => {
    expect(describeRedirectTarget('https://xn--clude-5ve.ai/cb').name).toBe('xn--clude-5ve.ai');
    expect(() => describeRedirectTarget('https://clаude.ai/cb')).toThrow('illegal_character');
  });

  it('is not misled by a host name in path or query, nor by one that only begins like loopback', () => {
    expect(describeRedirectTarget('https://evil.example/claude.ai?to=https://claude.ai').name).toBe(
      'evil.example',
    );
    expect(describeRedirectTarget('https://127.0.0.1.evil.example/cb').name).toBe('127.0.0.1.evil.example');
    expect(describeRedirectTarget('https://localhost.evil.example/cb').name).toBe('localhost.evil.example');
  });

  it('never shortens a host, so that its registrable end stays in sight', () => {
    const host = `${'claude.ai.'.repeat(20)}evil.example`;
    expect(describeRedirectTarget(`https://${host}/cb`).name).toBe(host);
  });

  it('names the scheme of a private-use redirect as it is written', () => {
    expect(describeRedirectTarget('cursor://anysphere.cursor-retrieval/oauth/callback')).toMatchObject({
      kind: 'scheme',
      name: 'cursor://',
    });
    expect(describeRedirectTarget('com.example.app:/oauth').name).toBe('com.example.app:');
  });

  it('refuses to describe a redirect URI that could not have been registered', () => {
    for (const uri of [
      'javascript:alert(1)',
      'http://evil.example/cb',
      'https://a@evil.example/',
      'nonsense',
    ]) {
      expect(() => describeRedirectTarget(uri)).toThrow(/check it before rendering/);
    }
  });
});
