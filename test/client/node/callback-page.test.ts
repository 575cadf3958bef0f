import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { callbackPage, callbackPageHeaders, escapeHtml } from '../../../src/client/node/callback-page.ts';

describe('the page after the redirect', () => {
  const page = callbackPage('<b>"Hi"', "it's & <script>");

  it('escapes what it shows (T-187)', () => {
    expect(page).not.toMatch(/<b>|<script/);
    expect(escapeHtml(`<>&"'`)).toBe('&#60;&#62;&#38;&#34;&#39;');
  });

  it('runs no script and loads nothing, and its policy allows its own style only', () => {
    const style = /<style>(.*?)<\/style>/s.exec(page)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(callbackPageHeaders['content-security-policy']).toContain(
      `default-src 'none'; style-src 'sha256-${hash}'`,
    );
    expect(page).not.toMatch(/src=|href=|url\(|@import/);
  });

  it('is made for light and dark', () => {
    expect(page).toContain('color-scheme:light dark');
    expect(page).toContain('prefers-color-scheme:dark');
  });
});
