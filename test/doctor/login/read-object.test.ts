import { expect, it } from 'vitest';
import { readObject, textOf } from '../../../src/doctor/login/read-object.ts';

it.each([
  ['{"a":1}', { a: 1 }],
  ['[1]', undefined],
  ['null', undefined],
  ['<p>', undefined],
  ['', undefined],
])('%s is read as an object, or not at all', (text, value) => {
  expect(readObject(text)).toEqual(value);
});

it('a member counts where it is a text with something in it', () => {
  expect([textOf('a'), textOf(''), textOf(1), textOf(undefined)]).toEqual([
    'a',
    undefined,
    undefined,
    undefined,
  ]);
});
