import { describe, expect, it } from 'vitest';
import { checkBySchema } from '../../../src/gateway/steps/schema-check.ts';

const schema = {
  type: 'object',
  properties: { text: { type: 'string', minLength: 2 }, list: { type: 'array', items: { type: 'number' } } },
  required: ['text'],
  additionalProperties: false,
};

describe('arguments', () => {
  it.each([
    [{ text: 'abc', list: [1] }, undefined],
    [{}, 'Instance does not have required property "text".'],
    [{ text: 5 }, 'text: Instance type "number" is invalid. Expected "string".'],
    [{ text: 'ab', list: [1, 'b'] }, 'list/1: Instance type "string" is invalid. Expected "number".'],
    [{ text: 'ab', more: 1 }, 'more: There is nothing of that name.'],
  ])('%j: %s', (value, problem) => {
    expect(checkBySchema(schema, value)).toBe(problem);
  });

  it.each([
    [
      { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { a: { type: 'number' } } },
      '#/definitions/a',
    ],
    [
      { $schema: 'https://json-schema.org/draft/2019-09/schema', $defs: { a: { type: 'number' } } },
      '#/$defs/a',
    ],
    [
      { $defs: { a: { type: 'number' } }, $schema: 'https://json-schema.org/draft/2020-12/schema' },
      '#/$defs/a',
    ],
  ])('are checked by the dialect the schema says: %j', (dialect, $ref) => {
    const whole = { ...dialect, type: 'object', properties: { x: { $ref } } };
    expect([checkBySchema(whole, { x: 1 }), typeof checkBySchema(whole, { x: 'a' })]).toEqual([
      undefined,
      'string',
    ]);
  });

  it('cannot be checked by a dialect that is not known, nor by a schema that refers to nothing', () => {
    expect(() => checkBySchema({ $schema: 'http://json-schema.org/draft-03/schema' }, {})).toThrow();
    expect(() => checkBySchema({ $ref: 'https://evil.example/schema' }, {})).toThrow();
  });

  it.each([
    ['exclusiveMaximum of draft-04', { n: { type: 'number', maximum: 5, exclusiveMaximum: true } }],
    [
      'exclusiveMinimum of draft-04',
      { n: { type: 'array', items: { minimum: 5, exclusiveMinimum: false } } },
    ],
    ['required of draft-03', { n: { type: 'number', required: true } }],
    ['a type that no dialect has', { n: { anyOf: [{ type: 'any' }] } }],
    ['a bound that is text', { n: { minLength: '3' } }],
  ])('cannot be checked by a schema with %s (FA-48)', (_what, properties) => {
    expect(() => checkBySchema({ type: 'object', properties }, { n: 3 })).toThrow();
  });

  it('are checked by a schema whose data and names look like keywords of another draft (FA-48)', () => {
    const required = {
      type: 'object',
      properties: { type: { type: 'string' } },
      default: { required: true },
    };
    const whole = { properties: { required, enum: { enum: [{ exclusiveMaximum: true }] } } };
    expect(
      checkBySchema(whole, { required: { type: 'a' }, enum: { exclusiveMaximum: true } }),
    ).toBeUndefined();
  });

  it('are told what does not fit in no more than a thousand characters', () => {
    expect(checkBySchema({ enum: ['x'.repeat(5000)] }, {})?.length).toBeLessThan(1010);
  });

  it('have their own members alone, whatever a schema names (T-137)', () => {
    const named = (name: string) => ({
      properties: JSON.parse(`{${JSON.stringify(name)}:{"type":"string"}}`),
      required: [name],
    });
    for (const name of ['constructor', 'toString', '__proto__']) {
      const { properties, required } = named(name);
      expect(checkBySchema({ properties }, {})).toBeUndefined();
      expect(checkBySchema({ required }, {})).toContain(`required property "${name}"`);
      const given = JSON.parse(`{${JSON.stringify(name)}:"x"}`);
      expect(checkBySchema({ properties, required, additionalProperties: false }, given)).toBeUndefined();
    }
  });
});
