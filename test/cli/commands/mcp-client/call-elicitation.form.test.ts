import { describe, expect, it } from 'vitest';
import { formField, readField } from '../../../../src/cli/commands/mcp-client/call-elicitation.ts';

const field = (schema: Record<string, unknown>, isRequired = true) => formField('name', schema, isRequired);
const read = (schema: Record<string, unknown>, line: string, isRequired = true) =>
  readField(field(schema, isRequired), line);

describe('a field of a form', () => {
  it('says what it is, what can be chosen, and what it is otherwise (C7-03)', () => {
    expect(field({ type: 'string', title: 'Your name', description: 'as written' }).question).toBe(
      'Your name - as written (string):',
    );
    expect(field({ type: 'integer', default: 3 }).question).toBe('name (integer [3]):');
    expect(field({ type: 'string' }, false).question).toBe('name (string, may be empty):');
    expect(field({ oneOf: [{ const: 'r', title: 'Red' }, { const: 'g' }] }).question).toBe(
      'name (r (Red), g):',
    );
    expect(field({ type: 'array', items: { enum: ['a', 'b'] } }).question).toBe(
      'name (a, b, separated by commas):',
    );
  });

  it('is shown without what a terminal could act on (T-190)', () => {
    expect(field({ type: 'string', title: 'a\u001b[2J\nb' }).question).toBe('a b (string):');
  });

  it.each<[Record<string, unknown>, string, unknown]>([
    [{ type: 'string' }, ' Ada ', 'Ada'],
    [{ type: 'integer' }, '42', 42],
    [{ type: 'number' }, '1.5', 1.5],
    [{ type: 'boolean' }, 'yes', true],
    [{ type: 'boolean' }, 'N', false],
    [{ enum: ['a', 'b'] }, 'b', 'b'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, 'a, b', ['a', 'b']],
    [{ type: 'string', default: 'x' }, '', 'x'],
  ])('of %j takes %j', (schema, line, value) => {
    expect(read(schema, line)).toEqual({ value });
  });

  it.each<[Record<string, unknown>, string]>([
    [{ type: 'string' }, ''],
    [{ type: 'integer' }, '1.5'],
    [{ type: 'number' }, 'x'],
    [{ type: 'integer', minimum: 3 }, '2'],
    [{ type: 'integer', maximum: 3 }, '4'],
    [{ type: 'string', minLength: 3 }, 'ab'],
    [{ type: 'string', maxLength: 1 }, 'ab'],
    [{ type: 'boolean' }, 'maybe'],
    [{ enum: ['a'] }, 'b'],
    [{ type: 'array', items: { anyOf: [{ const: 'a' }] } }, 'a,b'],
  ])('of %j refuses %j, saying why', (schema, line) => {
    expect(read(schema, line)).toEqual({ refused: expect.stringMatching(/\w/) });
  });

  it('may be left out where it is not required', () => {
    expect(read({ type: 'string' }, '', false)).toEqual({ value: undefined });
  });
});
