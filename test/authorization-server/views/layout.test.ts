import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { renderLayout } from '../../../src/authorization-server/views/layout.ts';
import { markup } from '../../../src/authorization-server/views/markup.ts';
import { hostile, pageStructure } from './page-structure.ts';

describe('renderLayout', () => {
  const page = renderLayout(en, 'Log in', markup`<h1>Log in</h1>`);

  it('gives a primitive string that is a whole document with language, character set, viewport and title', () => {
    expect(typeof page).toBe('string');
    expect(page.startsWith('<!DOCTYPE html>\n<html lang="en">')).toBe(true);
    expect(page).toContain('<meta charset="utf-8">');
    expect(page).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
    expect(page).toContain('<title>Log in</title>');
    expect(page).toContain('<main>\n<h1>Log in</h1>\n</main>');
  });

  it('refers to nothing outside the page and carries no script or style attribute (T-017, T-198)', () => {
    expect(page).not.toMatch(/https?:|<script|<link|<iframe|<img| src=| style=| on[a-z]+=/i);
  });

  it('keeps a hostile title inside its element (T-059)', () => {
    expect(pageStructure(renderLayout(en, hostile, markup`<h1>Log in</h1>`))).toEqual(pageStructure(page));
  });
});
