import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseSettings, settingsSchema } from '../../src/options.ts';
import { root } from './sources.ts';

const documents = [
  'README.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(new URL('docs/', root))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const read = (path: string | URL): string => readFileSync(new URL(path, root), 'utf8');

/** Returns the anchors of a page as GitHub makes them from its headings. */
const anchorsOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** Returns the links of a document that lead to no file or to no heading. */
function brokenLinks(document: string): string[] {
  const prose = read(document).replace(/^```[\s\S]*?^```/gm, '');
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
    ([, link, image]) => link ?? image ?? '',
  );
  return targets.filter((target) => {
    if (/^(https?|mailto):/.test(target)) return false;
    const [path = '', anchor] = target.split('#');
    const page = path === '' ? new URL(document, root) : new URL(path, new URL(document, root));
    if (!existsSync(page)) return true;
    return anchor !== undefined && !anchorsOf(read(page)).includes(anchor);
  });
}

/** Returns the JSON examples of a document that are settings. */
const settingsOf = (document: string): object[] =>
  [...read(document).matchAll(/^```json\n([\s\S]*?)^```/gm)]
    .map(([, text = '']) => JSON.parse(text) as object)
    .filter((example) => Object.keys(example).some((name) => name in settingsSchema.shape));

describe('the documents', () => {
  it.each(documents)('%s shows only settings that a config file may contain', (document) => {
    for (const example of settingsOf(document)) expect(parseSettings(example)).toBeDefined();
  });

  it.each(documents.filter((path) => path.startsWith('docs/')))(
    '%s has at most 1,500 words, or says that it is a reference',
    (document) => {
      const text = read(document);
      const words = text.split(/\s+/).length;
      expect(words < 1500 || /^# .*\n\n(<!--.*\n)?Reference/.test(text), `${words} words`).toBe(true);
    },
  );

  it.each(documents)('%s links only to files and headings that exist', (document) => {
    expect(brokenLinks(document)).toEqual([]);
  });

  it('CHANGELOG.md has one line for each thing that a user notices since the last release', () => {
    const lines = read('CHANGELOG.md').trimEnd().split('\n');
    const advice = 'Shorten it: features by area, at most 150 lines of at most 120 characters.';
    expect(lines.length, advice).toBeLessThanOrEqual(150);
    expect(
      lines.filter((line) => line.length > 120),
      advice,
    ).toEqual([]);
    const released = lines.some((line) => /^## \d.*\d{4}-\d\d-\d\d$/.test(line));
    expect(
      released ? [] : lines.filter((line) => /^### (Fixed|Changed|Removed)/.test(line)),
      'Nothing was released yet, so nothing that users have can be fixed, changed or removed.',
    ).toEqual([]);
  });

  it.each(['docs/rest.md', 'docs/gateway-urls.md', 'docs/gateway-programs.md'])(
    '%s says that a backend gets no _meta.auth of a caller (FA-38)',
    (document) => {
      const sentences = read(document)
        .replace(/\s+/g, ' ')
        .split(/(?<=\.) /);
      expect(sentences.some((one) => one.includes('`_meta.auth`') && /\b(no|only)\b/.test(one))).toBe(true);
    },
  );
});
