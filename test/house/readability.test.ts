import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { crumbs, questioningDocstrings } from './readability.ts';
import { parseSource, readSources, root } from './sources.ts';

const sources = readSources('src');

/** Short files with one importer that stay by themselves. */
const allowedCrumbs: ReadonlySet<string> = new Set([
  // The entry of the package for PostgreSQL.
  'src/storage/postgres/index.ts',
  // What it imports, its importer may not.
  'src/authorization-server/administration/unusable-clients.ts',
]);

describe('a stranger', () => {
  it('finds no docstring that opens like a question', () => {
    expect(sources.flatMap(questioningDocstrings)).toEqual([]);
  });

  it('finds no file of a few lines that one other file imports', () => {
    expect(crumbs(sources, allowedCrumbs)).toEqual([]);
    const paths = new Set(sources.map(({ path }) => path));
    expect([...allowedCrumbs].filter((path) => !paths.has(path))).toEqual([]);
  });

  it('can read the subjects of the last 60 commits in a list: none has over 72 characters', () => {
    const subjects = execFileSync('git', ['log', '-60', '--no-merges', '--format=%s'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(subjects.split('\n').filter((subject) => subject.length > 72)).toEqual([]);
  });
});

describe('the checks for strangers', () => {
  it.each([
    ['/** What is kept. */\nexport const a = 1;', 1],
    ['const b = 1;\n/**\n * Whether it is kept.\n */\nexport const a = 1;', 2],
  ])('name the line of a docstring that opens like a question: %j', (text, line) => {
    const [found, ...more] = questioningDocstrings(parseSource('src/oauth/a.ts', text));
    expect(found).toMatch(new RegExp(`^src/oauth/a.ts:${line} opens with "Wh`));
    expect(more).toEqual([]);
  });

  it('leave other docstrings and comments alone', () => {
    const text =
      '/** Whatever is kept. */\nexport const a = 1; // What it is.\n/* How */\n/** Returns what is kept. */';
    expect(questioningDocstrings(parseSource('src/oauth/a.ts', text))).toEqual([]);
  });

  const few = parseSource('src/oauth/few.ts', 'export const few = 1;');
  const first = parseSource('src/oauth/first.ts', "import { few } from './few.ts';\n".padEnd(100, '\n'));
  const second = parseSource('src/oauth/second.ts', "import { few } from './few.ts';\n".padEnd(100, '\n'));

  it('name the file that a file of few lines belongs to, unless it is listed or has two importers', () => {
    expect(crumbs([few, first], new Set())).toEqual([
      'src/oauth/few.ts has under 40 lines and one importer: make it a paragraph of src/oauth/first.ts.',
    ]);
    expect(crumbs([few, first], new Set([few.path]))).toEqual([]);
    expect(crumbs([few, first, second], new Set())).toEqual([]);
  });
});
