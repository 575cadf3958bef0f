import { expect, it } from 'vitest';
import { z } from 'zod';
import { whereSound } from '../../src/settings/where-sound.ts';

const pair = z.strictObject({ low: z.int(), high: z.int(), name: z.string() }).superRefine(
  (given, context) => {
    if (given.low > given.high) context.addIssue({ code: 'custom', path: ['low'], message: 'too high' });
  },
  whereSound('low', 'high'),
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
