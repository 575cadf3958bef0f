import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseSettings } from '../../src/options.ts';
import { makeAll, SettingsRefused, whenFieldsValid } from '../../src/settings/issues.ts';

/** What is wrong with settings, without the place before it where all are below one. */
function problemsOf(input: unknown, place = ''): string[] {
  try {
    parseSettings(input);
    return [];
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error;
    return error.problems.map((problem) => problem.replace(place, ''));
  }
}

const ofBackend = (backend: unknown) => problemsOf({ routes: { a: { backend } } }, 'routes.a.backend');
const ofCredential = (credential: object) =>
  problemsOf(
    { routes: { a: { backend: { command: 'a' }, credentials: { k: credential } } } },
    'routes.a.credentials.k',
  );

const url = 'https://a.example/mcp';

describe('settings that do not go together are told as that, both by name', () => {
  it.each<[object, string[]]>([
    [{ command: 'a', url }, ['.url: does not go with command: set one of them']],
    [{ command: 'a', headers: {} }, ['.headers: goes with url, not with command']],
    [{ command: 'a', transport: 'sse' }, ['.transport: goes with url, not with command']],
    [
      { url, args: [], process: 'shared' },
      ['.args: goes with command, not with url', '.process: goes with command, not with url'],
    ],
  ])('of a backend: %j', (backend, problems) => {
    expect(ofBackend(backend)).toEqual(problems);
  });

  it.each<[object, string[]]>([
    [{ as: { header: 'x-a', env: 'A' } }, ['.as.env: does not go with header: set one of them']],
    [{ as: { prefix: 'Bearer ', env: 'A' } }, ['.as.prefix: goes with header, not with env']],
    [
      { as: { env: 'A' }, from: { env: 'A', file: 'b' } },
      ['.from.file: does not go with env: set one of them'],
    ],
  ])('of a credential: %j', (credential, problems) => {
    expect(ofCredential(credential)).toEqual(problems);
  });
});

describe('a setting that can have several forms', () => {
  it.each<[unknown, string[]]>([
    [{}, [': needs command or url']],
    [{ zebra: 1 }, [': needs command or url', '.zebra: there is no such setting']],
    ['notes-server', [': must be { "command": … } or { "url": … }']],
    [{ command: 'a', env: 'A' }, ['.env: must be a list, in [ ], or an object, in { }']],
    [{ command: 'a', spare: 2 }, ['.spare: must be 0 or 1']],
    [{ command: 7 }, ['.command: must be a string, in quotes']],
  ])('names them all where none was meant more than the others: %j', (backend, problems) => {
    expect(ofBackend(backend)).toEqual(problems);
  });

  it('names them, too, where it is a word or one of several objects', () => {
    const forms = '{ "env": … }, { "file": … } or { "upstream": … }';
    const as = { env: 'A' };
    expect(ofCredential({ as, from: 'persn' })).toEqual([`.from: must be "person", ${forms}`]);
    expect(ofCredential({ as, from: {} })).toEqual(['.from: needs env, file or upstream']);
    expect(ofCredential({})).toEqual([
      '.as: is missing: it takes { "header": … }, { "env": … } or { "auth": … }',
    ]);
  });

  it.each([
    [{ ur: url }, '.ur: there is no such setting; did you mean url?'],
    [{ commnd: 'a' }, '.commnd: there is no such setting; did you mean command?'],
  ])('is told by the one whose name was nearly written: %j', (backend, problem) => {
    const [name] = Object.keys(backend);
    const problems = ofBackend(backend);
    expect(problems).toContain(problem);
    expect(problems.join()).not.toContain(name === 'ur' ? 'command' : '.url');
  });
});

it.each<[object, string]>([
  [
    { log: { level: 'inf' } },
    'log.level: must be "debug", "info", "warn", "error" or "silent"; did you mean "info"?',
  ],
  [{ mcp: { sessions: 'x' } }, 'mcp.sessions: must be "stored" or "none"'],
  [{ listen: { port: 70_000 } }, 'listen.port: must be 65535 or less'],
  [{ tokens: { codeSeconds: 0 } }, 'tokens.codeSeconds: must be 1 or more'],
  [{ tokens: { codeSeconds: 1.5 } }, 'tokens.codeSeconds: must be a whole number'],
  [{ data: '' }, 'data: must not be empty'],
])('a value out of bounds is told in words of our own: %j', (input, problem) => {
  expect(problemsOf(input)).toEqual([problem]);
});

const pair = z.strictObject({ low: z.int(), high: z.int(), name: z.string() }).superRefine(
  (given, context) => {
    if (given.low > given.high) context.addIssue({ code: 'custom', path: ['low'], message: 'too high' });
  },
  whenFieldsValid('low', 'high'),
);

it.each<[unknown, string[]]>([
  [{ low: 2, high: 1, name: 'a' }, ['too high']],
  [{ low: 2, high: 1, name: 7 }, ['name', 'too high']],
  [{ low: 2, high: 1, name: 'a', more: 1 }, ['more', 'too high']],
  [{ low: '2', high: 1, name: 7 }, ['low', 'name']],
  [{ low: 2, name: 'a' }, ['high']],
  [null, ['']],
  [[], ['']],
])(
  'a check across settings runs where these are right, whatever is wrong beside them: %j',
  (given, found) => {
    const issues = pair.safeParse(given).error?.issues ?? [];
    expect(
      issues.map(({ code, path, message, ...rest }) =>
        code === 'custom' ? message : String(path[0] ?? ('keys' in rest ? rest.keys : '')),
      ),
    ).toEqual(found);
  },
);

it('refused settings say every problem on a line of its own', () => {
  const refusal = new SettingsRefused(['one: is wrong', 'two: is wrong']);
  expect(refusal.problems).toEqual(['one: is wrong', 'two: is wrong']);
  expect(refusal.message).toBe('The settings cannot be used:\n- one: is wrong\n- two: is wrong');
  expect(refusal.name).toBe('SettingsRefused');
});

it('of several that are made all that is refused is told, in one', () => {
  const refuse = (problem: string) => () => {
    throw new SettingsRefused([problem]);
  };
  const good = () => 'good';
  expect(makeAll([good, () => 'also good'])).toEqual(['good', 'also good']);
  expect(() => makeAll<string>([refuse('one'), good, refuse('two')])).toThrow(/\n- one\n- two$/);
  const broken = () => {
    throw new TypeError('broken');
  };
  expect(() => makeAll<string>([refuse('one'), broken])).toThrow(TypeError);
});
