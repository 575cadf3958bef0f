import { describe, expect, it } from 'vitest';
import { mirroredParameters } from '../../../src/mcp/modern/mirrored-headers.ts';

const object = (properties: object): object => ({ type: 'object', properties });

describe('the parameters a schema mirrors in headers', () => {
  it('stand under properties, however deep (B5-08)', () => {
    const schema = object({
      region: { type: 'string', 'x-mcp-header': 'Region' },
      box: object({ size: { type: 'integer', 'x-mcp-header': 'Size' } }),
      other: { type: 'string' },
    });
    expect(mirroredParameters(schema)).toEqual([
      { path: ['region'], headerName: 'Region', type: 'string' },
      { path: ['box', 'size'], headerName: 'Size', type: 'integer' },
    ]);
  });

  it.each([
    ['no schema', undefined],
    ['one under items', object({ list: { type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } } })],
    ['an empty name', object({ a: { type: 'string', 'x-mcp-header': '' } })],
    ['a name with a line break', object({ a: { type: 'string', 'x-mcp-header': 'A\r\nB' } })],
    [
      'a name twice',
      object({ a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' } }),
    ],
    ['one on an array', object({ a: { type: 'array', 'x-mcp-header': 'A' } })],
    ['one without a type', object({ a: { 'x-mcp-header': 'A' } })],
    ['a name in a list', object({ a: { type: 'string', 'x-mcp-header': ['A'] } })],
    ['a name that is no text', object({ a: { type: 'string', 'x-mcp-header': { toString: 'A' } } })],
  ])('are none with %s (B5-09)', (_what, schema) => {
    expect(mirroredParameters(schema)).toEqual([]);
  });
});
