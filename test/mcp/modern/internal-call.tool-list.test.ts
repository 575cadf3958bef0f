import { describe, expect, it } from 'vitest';
import { readToolList } from '../../../src/mcp/modern/internal-call.ts';
import type { Answer } from '../../../src/mcp/protocol.ts';
import { createCaller } from '../support/modern-calls.ts';

/** Reads the list from a server that gives these answers in turn, the last one for ever; keeps the cursors it was asked for. */
async function read(...answers: Answer[]) {
  const cursors: unknown[] = [];
  const list = await readToolList(({ request, answer }) => {
    cursors.push(request.params?.cursor);
    answer(answers[Math.min(cursors.length, answers.length) - 1] as Answer);
    return () => {};
  }, createCaller());
  return { cursors, names: list.tools.map(({ name }) => name), isWhole: list.isWhole };
}

const page = (name: string, nextCursor?: string): Answer => ({
  status: 200,
  result: { tools: [{ name }], ...(nextCursor ? { nextCursor } : {}) },
});

describe('a list of tools', () => {
  it('is read page by page, to its end', async () => {
    expect(await read(page('a', '2'), page('b', '3'), page('c'))).toEqual({
      cursors: [undefined, '2', '3'],
      names: ['a', 'b', 'c'],
      isWhole: true,
    });
  });

  it('ends after a hundred pages, whatever the server says', async () => {
    const pages = Array.from({ length: 200 }, (_, at) => page('a', `page ${at}`));
    expect((await read(...pages)).cursors).toHaveLength(100);
  });

  it('ends at a cursor that the server named before, and has no entries that are no tools (FA-04, T-204)', async () => {
    expect((await read(page('a', 'again'))).cursors).toEqual([undefined, 'again']);
    const odd: Answer = { status: 200, result: { tools: [null, 'b', { name: 'c' }] } };
    expect(await read(odd)).toMatchObject({ names: ['c'], isWhole: true });
  });

  it('is whole and empty where a server has no tools, and not whole where a page failed', async () => {
    const none: Answer = { status: 404, error: { code: -32601, message: 'none' } };
    const failed: Answer = { status: 500, error: { code: -32603, message: 'no database' } };
    expect(await read(none)).toMatchObject({ names: [], isWhole: true });
    expect(await read(page('a', '2'), failed)).toMatchObject({ names: ['a'], isWhole: false });
  });
});
