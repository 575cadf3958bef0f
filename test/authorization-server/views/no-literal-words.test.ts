import { Visitor } from 'vite';
import { describe, expect, it } from 'vitest';
import { parseSource, readSources, type Source } from '../../house/sources.ts';

/** Views that hold no words for people: a stylesheet and a policy are written in ASCII words, too. */
const notPages = new Set(['style.ts', 'content-security-policy.ts']);

const hole = '\u0001';

/** What a person reads of a piece of HTML: the text between tags, and the attributes that are read out. */
function readableWords(html: string): string[] {
  const spoken = [
    ...html.matchAll(/ (?:title|alt|placeholder|aria-[a-z]*label|aria-roledescription)="([^"]*)"/g),
  ];
  return [html.replace(/<[^>]*>?/g, ' '), ...spoken.map(([, value]) => value ?? '')]
    .flatMap((text) => text.split(hole))
    .filter((text) => /\p{L}{2}/u.test(text));
}

/** Words for people in a view: in `markup` templates, and in strings that are sentences; errors are for developers. */
function literalWords({ parsed, text }: Pick<Source, 'parsed' | 'text'>): string[] {
  const found: { at: number; words: string[] }[] = [];
  const thrown: [number, number][] = [];
  new Visitor({
    ThrowStatement: ({ start, end }) => void thrown.push([start, end]),
    TaggedTemplateExpression({ tag, quasi, start }) {
      if (text.slice(tag.start, tag.end) !== 'markup') return;
      const html = quasi.quasis.map(({ value }) => value.cooked ?? '').join(hole);
      found.push({ at: start, words: readableWords(html) });
    },
    Literal({ value, start }) {
      if (typeof value === 'string' && isSentence(value)) found.push({ at: start, words: [value] });
    },
  }).visit(parsed.program);
  return found
    .filter(({ at }) => !thrown.some(([start, end]) => start <= at && at < end))
    .flatMap(({ words }) => words);
}

function isSentence(text: string): boolean {
  return /^[^<=]*\p{L}{2,}[,:;]? \p{L}{2,}[^=]*$/u.test(text);
}

describe('views', () => {
  const views = readSources('src/authorization-server/views').filter(
    ({ path }) => !notPages.has(path.split('/').at(-1) ?? ''),
  );

  it.each(views.map((view) => [view.path, view] as const))(
    '%s holds no words: they stand in the catalogues',
    (_path, view) => {
      expect(literalWords(view)).toEqual([]);
    },
  );

  it.each([
    ['markup`<p>Log in</p>`', ['Log in']],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    ['markup`<p title="A tip" class="${name} wide">${text}</p>`', ['A tip']],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    ['markup`<p>${name} asks</p>`', [' asks']],
    ["const words = 'An app without a name';", ['An app without a name']],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    ['markup`<dl>\n<dt>${words.code}</dt></dl>`', []],
    ["throw new TypeError('Not a page at all.');", []],
  ])('would be found out in %s', (text, words) => {
    expect(literalWords(parseSource('src/view.ts', text)).map((word) => word.trim())).toEqual(
      words.map((word) => word.trim()),
    );
  });
});
