import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { type ErrorPage, renderError } from '../../../src/authorization-server/views/error.ts';
import { hostile, pageStructure, tagWith } from './page-structure.ts';

const page: ErrorPage = {
  title: 'This login has expired',
  message: 'The login was started too long ago.',
  code: 'interaction_expired',
  hint: 'Go back to the app and start again.',
  continueTo: { href: 'https://ci.example.com/cb?error=access_denied&state=1', label: 'Back to the app' },
  requestId: 'r-1',
};

describe('renderError', () => {
  it('says what happened, what to do, its code and the request to ask about', () => {
    const html = renderError(en, page);
    for (const shown of [page.title, page.message, page.hint, page.code, page.requestId]) {
      expect(html).toContain(shown);
    }
    expect(html.match(/<h1/g)).toHaveLength(1);
  });

  it('links to an http(s) or private-use address the caller validated', () => {
    for (const href of ['http://127.0.0.1:5000/cb', 'cursor://app/cb', 'https://a.example/cb']) {
      const html = renderError(en, { ...page, continueTo: { href, label: 'Back' } });
      expect(tagWith(html, `href="${href}"`)).toContain('rel="noreferrer"');
    }
    expect(renderError(en, page)).toContain(
      'href="https://ci.example.com/cb?error=access_denied&amp;state=1"',
    );
  });

  it('leaves out a link that would run code or that leads nowhere', () => {
    for (const href of [
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      ' java\nscript:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'blob:https://a.example/1',
      'file:///etc/hosts',
      '//evil.example',
      '',
    ]) {
      expect(renderError(en, { ...page, continueTo: { href, label: 'Back' } })).not.toContain('<a ');
    }
  });

  it('shows the bare minimum without hint, link and request', () => {
    const html = renderError(en, {
      title: 'Not found',
      message: 'There is no such page.',
      code: 'not_found',
    });
    expect(html).not.toMatch(/<a |Request ID|undefined|>\s*false/);
  });

  it('makes texts that repeat a request inert and cuts them (T-059, T-060)', () => {
    const html = renderError(en, { ...page, message: `\u202Ebad ${'m'.repeat(10_000)}` });
    expect(html).not.toContain('\u202E');
    expect(html).not.toContain('m'.repeat(500));
  });

  it('keeps the same tags and attributes whatever the texts hold (T-059)', () => {
    const attacked: ErrorPage = {
      title: hostile,
      message: hostile,
      code: hostile,
      hint: hostile,
      continueTo: { href: `https://a.example/${hostile}`, label: hostile },
      requestId: hostile,
    };
    expect(pageStructure(renderError(en, attacked))).toEqual(pageStructure(renderError(en, page)));
  });
});
