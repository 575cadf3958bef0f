import { describe, expect, it } from 'vitest';
import { type Markup, markup, trustedMarkup } from '../../../src/authorization-server/views/markup.ts';
import { hostile } from './page-structure.ts';

describe('markup', () => {
  it('escapes text by default, for content and for quoted attributes (T-059)', () => {
    const rendered = markup`<p title="${hostile}">${hostile}</p>`.toString();
    expect(rendered.replace('<p title="', '').replace('">', '').replace('</p>', '')).not.toMatch(/[<>"']/);
    expect(rendered).toContain('&lt;script&gt;');
  });

  it('escapes once: markup inside markup stays markup', () => {
    const inner = markup`<b>${'a&b'}</b>`;
    expect(markup`<p>${inner}${[inner, inner]}</p>`.toString()).toBe(
      '<p><b>a&amp;b</b><b>a&amp;b</b><b>a&amp;b</b></p>',
    );
  });

  it('leaves out false and undefined', () => {
    expect(markup`<p>${false}${undefined}</p>`.toString()).toBe('<p></p>');
  });

  it('places trusted markup as it is', () => {
    expect(markup`${trustedMarkup('<br>')}`.toString()).toBe('<br>');
  });

  it('refuses a promise, because pages are rendered synchronously', () => {
    const late: unknown = Promise.resolve('late');
    expect(() => markup`<p>${late as Markup}</p>`).toThrow(/await the value/);
  });
});
