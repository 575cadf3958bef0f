import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { formsAt, knownNames, nearest } from '../../src/settings/known-names.ts';

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

it('the forms a place can have are those of its union, with what each knows and cannot do without', () => {
  const union = z.union([
    z.literal('all'),
    z.strictObject({ one: z.string(), more: z.string().optional() }),
    z.array(z.enum(['a'])),
  ]);
  const whole = z.strictObject({ table: z.record(z.string(), union.default('all')).default({}) });
  expect(formsAt(whole, ['table', 'any'])).toEqual([
    { kind: 'literal', values: ['all'], names: [], needed: [] },
    { kind: 'object', values: undefined, names: ['one', 'more'], needed: ['one'] },
    { kind: 'array', values: undefined, names: [], needed: [] },
  ]);
  expect(formsAt(whole, [])).toMatchObject([{ kind: 'object', names: ['table'], needed: [] }]);
  expect(formsAt(whole, ['nowhere'])).toMatchObject([{ names: [], needed: [] }]);
});

describe('the nearest name', () => {
  it.each([
    ['publicURL', 'publicUrl'],
    ['tokn', 'tokens'],
    ['zebra', undefined],
    ['qq', undefined],
    ['publicUrlOfTheServer', undefined],
  ])('to %s is %s', (name, meant) => {
    expect(nearest(name, ['publicUrl', 'tokens', 'listen', 'c'])).toBe(meant);
  });
});
