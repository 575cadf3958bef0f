import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { knownNames, nearest } from '../../src/settings/known-names.ts';

const schema = z
  .strictObject({
    plain: z.string(),
    group: z.strictObject({ inner: z.string() }).prefault({ inner: '' }),
    list: z.array(z.strictObject({ entry: z.string() })).default([]),
    table: z.record(z.string(), z.strictObject({ column: z.string() })).default({}),
  })
  .superRefine(() => undefined);

describe('the names a schema knows', () => {
  it.each<[PropertyKey[], string[]]>([
    [[], ['plain', 'group', 'list', 'table']],
    [['group'], ['inner']],
    [['list', 3], ['entry']],
    [['table', 'any'], ['column']],
    [['plain'], []],
    [['nowhere', 'else'], []],
  ])('at %j are %j', (path, names) => {
    expect(knownNames(schema, path)).toEqual(names);
  });
});

describe('the nearest name', () => {
  it.each([
    ['publicURL', 'publicUrl'],
    ['tokn', 'tokens'],
    ['zebra', undefined],
    ['publicUrlOfTheServer', undefined],
  ])('to %s is %s', (name, meant) => {
    expect(nearest(name, ['publicUrl', 'tokens', 'listen'])).toBe(meant);
  });
});
