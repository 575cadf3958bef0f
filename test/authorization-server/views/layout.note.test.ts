import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { renderNote } from '../../../src/authorization-server/views/layout.ts';

describe('renderNote', () => {
  it('says how something ended, with one heading, and asks for nothing', () => {
    const html = renderNote(en, { heading: 'Done & <dusted>', message: 'Go home.' });
    expect(html).toContain('<h1>Done &amp; &lt;dusted&gt;</h1>');
    expect(html).toContain('<title>Done &amp; &lt;dusted&gt; – Gatehouse</title>');
    expect(html).toContain('<p>Go home.</p>');
    expect(html).not.toMatch(/<form|<a |<script/);
  });
});
