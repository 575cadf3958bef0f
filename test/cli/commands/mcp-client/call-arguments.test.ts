import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readArguments, typeArguments } from '../../../../src/cli/commands/mcp-client/call-arguments.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { testIo } from '../../support/client-commands.ts';

const schema = {
  properties: {
    days: { type: 'integer' },
    share: { type: ['number', 'null'] },
    dry: { type: 'boolean' },
    zip: { type: 'string' },
    tags: { type: 'array' },
  },
};

async function read(words: string[], given: { input?: string; schema?: unknown } = {}) {
  const { io } = testIo(given.input === undefined ? {} : { input: given.input });
  return typeArguments(await readArguments(words, io), given.schema);
}

describe('arguments of a call', () => {
  it('are an object, pairs, or both; the later goes before', async () => {
    expect(await read([])).toEqual({});
    expect(await read(['{"a":1,"b":{"c":2}}'])).toEqual({ a: 1, b: { c: 2 } });
    expect(await read(['{"a":1}', 'a=x', 'b=y=z', 'c=', 'd:=[1]'])).toEqual({
      a: 'x',
      b: 'y=z',
      c: '',
      d: [1],
    });
    expect(await read(['a=x', '{"a":1}'])).toEqual({ a: 1 });
  });

  it('come from a file, or from standard input', async () => {
    const file = join(testFolder(), 'args.json');
    writeFileSync(file, '{"a":1}');
    expect(await read([`@${file}`, 'b=2'])).toEqual({ a: 1, b: '2' });
    expect(await read(['@-'], { input: '{"c":3}' })).toEqual({ c: 3 });
  });

  it('have the types that the tool wants', async () => {
    const words = ['days=3', 'share=null', 'dry=true', 'zip=08001', 'tags=["a"]', 'other=1'];
    expect(await read(words, { schema })).toEqual({
      days: 3,
      share: null,
      dry: true,
      zip: '08001',
      tags: ['a'],
      other: '1',
    });
    expect(await read(['days=soon'], { schema })).toEqual({ days: 'soon' });
  });

  it('may be named like a member of every object', async () => {
    const args = await read(['__proto__=x', 'constructor=y'], { schema });
    expect(Object.entries(args)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });

  it.each([['{'], ['[]'], ['null'], ['word'], ['a:=b'], ['@/no/such/file'], ['tags=[']])(
    'are refused where they are %s, saying how to write them',
    async (word) => {
      await expect(read([word], { schema })).rejects.toMatchObject({
        exitCode: 2,
        hint: expect.stringContaining('key=value'),
      });
    },
  );

  it.each([
    ['id=1234567890123456789', '{"id":1234567890123456789}'],
    ['share=1.0', '{"share":1.0}'],
    ['id:=[1e400]', '{"id":[1e400]}'],
    ['{"id":9007199254740993}', '{"id":9007199254740993}'],
  ])('%s is sent with its number as it was written (FA-40)', async (word, sent) => {
    const typed = { properties: { id: { type: 'integer' }, share: { type: 'number' } } };
    expect(JSON.stringify(await read([word], { schema: typed }))).toBe(sent);
  });
});
