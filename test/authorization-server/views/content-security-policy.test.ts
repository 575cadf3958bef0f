import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import {
  contentSecurityPolicy,
  pageHeaders,
} from '../../../src/authorization-server/views/content-security-policy.ts';
import { renderError } from '../../../src/authorization-server/views/error.ts';

function directive(name: string, redirectUri?: string): string | undefined {
  return contentSecurityPolicy(redirectUri)
    .split('; ')
    .find((entry) => entry.startsWith(`${name} `));
}

describe('contentSecurityPolicy', () => {
  it('lets nothing load, run, frame or rebase the page (T-017, T-198)', () => {
    expect(directive('default-src')).toBe("default-src 'none'");
    expect(directive('script-src')).toBe("script-src 'none'");
    expect(directive('img-src')).toBe("img-src 'none'");
    expect(directive('frame-ancestors')).toBe("frame-ancestors 'none'");
    expect(directive('base-uri')).toBe("base-uri 'none'");
    expect(contentSecurityPolicy()).not.toContain('unsafe');
  });

  it('allows the inlined stylesheet by the hash of exactly what a page carries', () => {
    const page = renderError(en, { title: 't', message: 'm', code: 'c' });
    const inlined = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '';
    expect(inlined).not.toBe('');
    const hash = createHash('sha256').update(inlined).digest('base64');
    expect(directive('style-src')).toBe(`style-src 'sha256-${hash}'`);
  });

  it('lets forms post to this origin alone when no redirect follows', () => {
    expect(directive('form-action')).toBe("form-action 'self'");
  });

  it('lets a form post end at the redirect URI and wherever the client goes on to: schemes, not hosts', () => {
    const sources = (uri: string) => directive('form-action', uri)?.replace("form-action 'self' ", '');
    expect(sources('https://claude.ai/api/mcp/auth_callback?x=1')).toBe('https:');
    expect(sources('http://127.0.0.1:53682/callback')).toBe('http: https:');
    expect(sources('http://[::1]:8080/cb')).toBe('http: https:');
    expect(sources('http://localhost:3334/oauth/callback')).toBe('http: https:');
    expect(sources('cursor://anysphere.cursor-retrieval/oauth/callback')).toBe('cursor:');
    expect(sources('com.example.app:/oauth')).toBe('com.example.app:');
  });

  it('lets a form lead through several places, each scheme named once', () => {
    const policy = contentSecurityPolicy([
      'cursor://callback',
      'https://as.example/callback',
      'https://app.example/cb',
    ]);
    expect(policy).toContain("form-action 'self' cursor: https:;");
  });

  it('takes nothing of a host into the policy, whatever characters it has', () => {
    for (const uri of [
      'https://evil;script-src/cb',
      'https://evil,script-src/cb',
      "https://evil'unsafe-inline'/cb",
    ])
      expect(contentSecurityPolicy(uri)).not.toMatch(/evil|unsafe/);
  });

  it('takes nothing from a redirect URI that could not be registered', () => {
    for (const uri of ['javascript:alert(1)', 'data:text/html,x', 'http://evil.example/cb', 'nonsense', '']) {
      expect(contentSecurityPolicy(uri)).toBe(contentSecurityPolicy());
    }
  });
});

describe('pageHeaders', () => {
  it('keeps pages out of caches, frames and referrers (T-017)', () => {
    expect(pageHeaders).toMatchObject({
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
    });
    expect(pageHeaders['Permissions-Policy']).toContain('camera=()');
    expect(pageHeaders).not.toHaveProperty('Cross-Origin-Opener-Policy');
  });
});
