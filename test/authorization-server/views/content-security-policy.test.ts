import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import {
  contentSecurityPolicy,
  pageHeaders,
} from '../../../src/authorization-server/views/content-security-policy.ts';
import { renderError } from '../../../src/authorization-server/views/error.ts';

function directive(name: string): string | undefined {
  return contentSecurityPolicy()
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

  it('lets forms post to this origin alone: no redirect to an app follows a form (FA-21)', () => {
    expect(directive('form-action')).toBe("form-action 'self'");
  });

  it('runs the one script whose hash it is given', () => {
    expect(contentSecurityPolicy("'sha256-x'")).toContain("; script-src 'sha256-x'; ");
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
