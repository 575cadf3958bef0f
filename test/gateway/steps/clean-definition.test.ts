import { describe, expect, it } from 'vitest';
import {
  cleanDefinition,
  cleanServerInfo,
  cleanText,
  cleanTexts,
  hasUnseen,
  isOpenable,
  isUnclean,
  isWebsite,
  withoutFaults,
} from '../../../src/gateway/steps/clean-definition.ts';
import { patience } from '../../support/patience.ts';

const esc = '\u001b[2J';
const png = 'data:image/png;base64,iVBORw0KGgo=';

describe('a definition', () => {
  it('is clean in its texts, those of parameters however deep included (T-160, T-211)', () => {
    const definition = {
      name: 'write',
      title: `a${esc}`,
      description: `b${esc}`,
      annotations: { title: `c${esc}` },
      inputSchema: {
        type: 'object',
        $comment: `d${esc}`,
        properties: {
          description: { type: 'string', description: `d${esc}`, default: 'e' },
          list: { anyOf: [{ items: { title: `f${esc}` } }] },
          default: { description: `g${esc}`, enum: ['a'], enumNames: [`h${esc}`] },
        },
        $defs: { enum: { description: `h${esc}`, enum: ['i'] } },
      },
    };
    expect(cleanDefinition(definition)).toEqual({
      removed: 0,
      definition: {
        name: 'write',
        title: 'a',
        description: 'b',
        annotations: { title: 'c' },
        inputSchema: {
          type: 'object',
          $comment: 'd',
          properties: {
            description: { type: 'string', description: 'd', default: 'e' },
            list: { anyOf: [{ items: { title: 'f' } }] },
            default: { description: 'g', enum: ['a'], enumNames: ['h'] },
          },
          $defs: { enum: { description: 'h', enum: ['i'] } },
        },
      },
    });
  });

  it('that is clean stays the same object', () => {
    const definition = {
      name: 'a',
      icons: [{ src: png }],
      inputSchema: {
        properties: {
          x: { description: 'fine\nand more', default: 'a\tb', enum: ['👩\u200d🚀', 'می\u200cروم'] },
        },
        anyOf: [{}],
      },
    };
    expect(cleanDefinition(definition)).toEqual({ definition, removed: 0 });
    expect(cleanDefinition(definition).definition).toBe(definition);
  });

  it.each([
    ['enum', { inputSchema: { properties: { a: { enum: ['b', 'c\u200b'] } } } }],
    ['const', { inputSchema: { properties: { a: { const: 'c\u202e' } } } }],
    ['default', { inputSchema: { properties: { a: { default: { b: [`c${esc}`] } } } } }],
    ['examples', { inputSchema: { properties: { a: { examples: ['c\u{e0041}'] } } } }],
    ['pattern', { inputSchema: { properties: { a: { pattern: '^\u200b' } } } }],
    ['format', { inputSchema: { properties: { a: { format: 'x\u2060' } } } }],
    ['a name of a parameter', { inputSchema: { properties: { 'a\u200b': {} } } }],
    ['a name of a parameter within', { inputSchema: { properties: { a: { properties: { 'b\n': {} } } } } }],
    ['a name in a result', { outputSchema: { properties: { 'a\u202e': {} } } }],
    ['a name of a pattern', { inputSchema: { patternProperties: { '^\u200b': {} } } }],
    ['a required name', { inputSchema: { required: ['a\u200b'] } }],
    ['a dependency', { inputSchema: { dependentRequired: { title: ['a\u200b'] } } }],
    ['a reference', { inputSchema: { $ref: '#/$defs/a\u200b' } }],
    ['a keyword', { inputSchema: { 'x-note\u200b': 1 } }],
    ['_meta', { _meta: { 'example.com/text': `a${esc}` } }],
    ['a name in _meta', { _meta: { deep: { 'a\u200b': 1 } } }],
    ['a member nobody knows', { note: [`a${esc}`] }],
    ['a name of an argument', { arguments: [{ name: 'a\u0007' }] }],
    ['a URI', { uri: 'note:\u200b' }],
    ['a type', { mimeType: 'text/plain\u200b' }],
    ['an empty letter', { name: 'a\u3164' }],
    ['an empty vowel', { name: 'a\u17b4' }],
    ['a name with a line separator', { name: 'a\u2028b' }],
    ['a row of joiners', { inputSchema: { enum: ['a\u200c\u200d\u200c'] } }],
    ['a joiner at the end', { inputSchema: { enum: ['a\u200c'] } }],
    ['hidden selectors', { inputSchema: { const: 'a\ufe01\ufe02\ufe03' } }],
  ])('with what nobody sees in %s cannot be clean (FA-08, T-211)', (_what, members) => {
    expect(cleanDefinition({ name: 'a', ...members })).toEqual({ fault: 'unseen_characters' });
  });

  it.each([
    { uri: 'javascript:alert(1)' },
    { uri: ' JavaScript:alert(1)' },
    { uri: 'data:text/html,<script>' },
    { uriTemplate: 'vbscript:{x}' },
    { _meta: { ui: { resourceUri: 'javascript:alert(1)' } } },
    { _meta: { 'openai/outputTemplate': 'data:text/html,x' } },
    { _meta: { 'example.com/page': 'java\tscript\n:alert(1)' } },
    { annotations: { help: 'vbscript:x' } },
    { _meta: { links: [{ href: 'view-source:https://example.com' }] } },
  ])('that names a script as a URI cannot be clean: %j (FA-08, T-211)', (members) => {
    expect(cleanDefinition({ name: 'a', ...members })).toEqual({ fault: 'script_url' });
  });

  it('that names pages by URIs of resources is clean (T-211)', () => {
    const definition = {
      uri: 'note:///a',
      uriTemplate: '{scheme}://{path}',
      inputSchema: { properties: { url: { examples: ['javascript:alert(1)', 'data:text/html,x'] } } },
      _meta: {
        ui: { resourceUri: 'ui://a' },
        'openai/outputTemplate': 'north+ui://widget/a.html',
        logoUrl: png,
        note: 'data: none',
      },
    };
    expect(cleanDefinition(definition).definition).toBe(definition);
  });

  it.each([
    'javascript:alert(1)',
    'http://example.com/a.png',
    'data:image/svg+xml;base64,PHN2Zz4=',
    'data:text/html;base64,PHN2Zz4=',
    'data:image/png,<script>',
    `${png}"onload="x`,
    'https://example.com/\u200b',
    'https:// example.com',
    '//example.com/a.png',
    'file:///etc/passwd',
    'blob:https://example.com/1',
    `data:image/png;base64,${'A'.repeat(131_072)}`,
    5,
  ])('loses the icon %j, and keeps those of https and images as text (FA-08, T-211)', (src) => {
    const good = [{ src: 'https://example.com/a.svg', mimeType: 'image/svg+xml' }, { src: png }];
    expect(cleanDefinition({ name: 'a', icons: [{ src }, ...good] })).toEqual({
      definition: { name: 'a', icons: good },
      removed: 1,
    });
    expect(cleanDefinition({ name: 'a', icons: [{ src }] })).toEqual({
      definition: { name: 'a' },
      removed: 1,
    });
  });

  it('loses icons that are no list, icons with hidden text, and a web site that is none (T-211)', () => {
    const icons = [{ src: png, mimeType: `image/png${esc}` }, 'https://example.com/a.png', null];
    expect(cleanDefinition({ name: 'a', icons })).toEqual({ definition: { name: 'a' }, removed: 3 });
    expect(cleanDefinition({ name: 'a', icons: { src: png } })).toMatchObject({ definition: { name: 'a' } });
    expect(cleanDefinition({ name: 'a', websiteUrl: 'javascript:alert(1)' })).toEqual({
      definition: { name: 'a' },
      removed: 1,
    });
  });

  it('loses the trace it came with (T-210)', () => {
    const _meta = { traceparent: `00${esc}`, 'example.com/a': 1 };
    expect(cleanDefinition({ name: 'a', _meta }).definition).toEqual({
      name: 'a',
      _meta: { 'example.com/a': 1 },
    });
  });

  it('that is too large or too deep cannot be clean, and costs no more than its bound (T-147, T-210)', () => {
    let schema: Record<string, unknown> = {};
    for (let depth = 0; depth < 100_000; depth++) schema = { items: schema };
    expect(cleanDefinition({ inputSchema: schema })).toEqual({ fault: 'too_large' });
    expect(cleanDefinition({ description: 'x'.repeat(262_144) })).toEqual({ fault: 'too_large' });
    const startedMs = performance.now();
    for (const text of ['\u001b]', '\u001b[', '\ufe0f', 'data:', ' '])
      cleanDefinition({ title: text.repeat(50_000), uri: text.repeat(20_000) });
    expect(performance.now() - startedMs).toBeLessThan(patience(2000));
  });
});

describe('what a server says beside definitions', () => {
  it('is clean in every text of its name card, and links nowhere but to the web (FA-08, T-211)', () => {
    const info = {
      name: `a${esc}`,
      version: `1${esc}`,
      title: `b${esc}`,
      description: `c${esc}`,
      icons: [{ src: 'javascript:alert(1)' }],
      websiteUrl: 'javascript:alert(1)',
    };
    const cleaned = { name: 'a', version: '1', title: 'b', description: 'c' };
    expect(cleanServerInfo(info)).toEqual({ info: cleaned, removed: 2 });
    const good = { name: 'a', version: '1', websiteUrl: 'https://example.com', icons: [{ src: png }] };
    expect(cleanServerInfo(good).info).toBe(good);
    expect(cleanServerInfo({ name: 'x'.repeat(300_000) }).info).toEqual({ name: 'unnamed', version: '0' });
  });

  it('loses members that hide text or lead to scripts (T-211)', () => {
    const value = { a: [`b${esc}`], 'c\u200b': 1, url: 'javascript:x', d: { e: 'f' } };
    expect(cleanTexts(value)).toEqual({ a: ['b'], d: { e: 'f' } });
    expect(withoutFaults(value)).toEqual({ a: [], d: { e: 'f' } });
    const good = { d: { e: ['f'] }, g: null };
    expect([cleanTexts(good), withoutFaults(good)]).toEqual([good, good]);
    expect(cleanTexts(good)).toBe(good);
    expect(cleanTexts('x'.repeat(300_000))).toBeUndefined();
  });

  it('names as web sites those of https alone, and asks people to pages of their own machine beside those (T-211)', () => {
    const urls = [
      'https://a.example/',
      'http://a.example',
      'http://localhost:8080/a',
      ' https://a.example',
      'ftp://a',
      '/a',
      5,
      'https://\t',
    ];
    expect(urls.filter(isWebsite)).toEqual(['https://a.example/']);
    expect(urls.filter(isOpenable)).toEqual(['https://a.example/', 'http://localhost:8080/a']);
  });
});

describe('clean text', () => {
  const tags = [...'ignore'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');

  describe('a text', () => {
    it.each([
      ['colours', 'a \u001b[31;1mred\u001b[0m b', 'a red b'],
      ['links of terminals', 'x\u001b]8;;https://evil.example\u0007click\u001b]8;;\u0007y', 'xclicky'],
      ['eight-bit sequences', 'a\u009b2Jb', 'ab'],
      ['half a sequence', 'a\u001b', 'a'],
      ['overrides of direction', 'safe\u202egnp.exe\u202c', 'safegnp.exe'],
      ['isolates', '\u2066a\u2069', 'a'],
      ['characters of no width', 'a\u200bb\u2060c\ufeffd', 'abcd'],
      ['tags', `Adds.${tags}`, 'Adds.'],
      ['hidden variation selectors', 'a\u{e0101}\u{e01ef}', 'a'],
      ['rows of selectors', 'a\u2764\ufe01\ufe02', 'a\u2764'],
      ['rows of joiners and marks', 'é\u200c\u200d\u200cé\u200f\u200e\u200f', 'éé'],
      ['joiners and selectors within a word', 're\u200dad\ufe0fy', 'ready'],
      ['empty letters', 'a\u3164b\u115f\u17b4', 'ab'],
      ['bells and backspaces', 'a\u0007b\u0008', 'ab'],
    ])('loses %s (T-160)', (_what, text, clean) => {
      expect(cleanText(text)).toBe(clean);
      expect(isUnclean(text)).toBe(true);
    });

    it.each([
      'Two\nlines\tand a tab',
      'naïve, 日本語, עברית\u200f, نص',
      'family 👨\u200d👩\u200d👧 ❤\ufe0f',
      'क्\u200dष',
      'PDF\u200cها, C++\u200e',
    ])('keeps what scripts need: %j', (text) => {
      expect(cleanText(text)).toBe(text);
    });

    it.each([
      ['read\u200c', true],
      ['\u200eread', true],
      ['a \u200d b', true],
      ['read\ufe0f', true],
      ['1\ufe0f\u20e3', false],
      ['👩\u200d🚀', false],
      ['می\u200cروم', false],
    ])('that is a value or name looks like no other: %j (FA-08, T-211)', (value, unclean) => {
      expect([hasUnseen(value), isUnclean(value)]).toEqual([unclean, unclean]);
    });

    it('takes no time, however it is made (T-147)', () => {
      const startedMs = performance.now();
      for (const start of ['\u001b]', '\u001b[', '\u009b0;', 'a\u200d', '\u200d', '\ufe0f'])
        for (const read of [cleanText, isUnclean]) read(start.repeat(100_000));
      cleanText(`\u001b]${'x'.repeat(1_000_000)}`);
      expect(performance.now() - startedMs).toBeLessThan(patience(2000));
    });

    it('that is a name may have no line ends either', () => {
      expect([isUnclean('a\nb'), isUnclean('a b'), isUnclean('lire-œuvre')]).toEqual([true, false, false]);
    });
  });
});
