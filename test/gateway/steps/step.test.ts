import { describe, expect, it } from 'vitest';
import {
  askedFor,
  entriesOf,
  lists,
  mapInTurns,
  notFound,
  withEntries,
} from '../../../src/gateway/steps/step.ts';

describe('what a request is about', () => {
  it.each([
    ['tools/call', { name: 'a' }, { kind: 'tool', name: 'a' }],
    ['prompts/get', { name: 'a' }, { kind: 'prompt', name: 'a' }],
    ['resources/read', { uri: 'a:' }, { kind: 'resource', name: 'a:' }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'a' } }, { kind: 'prompt', name: 'a' }],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'a:' } }, { kind: 'template', name: 'a:' }],
    ['completion/complete', {}, undefined],
    ['tools/call', { name: 5 }, undefined],
    ['tools/list', {}, undefined],
  ])('%s %j is %j', (method, params, about) => {
    expect(askedFor({ jsonrpc: '2.0', id: 1, method, params })).toEqual(about);
  });
});

describe('a response for what is not there', () => {
  it.each([
    ['tool', 'legacy', -32602],
    ['prompt', 'modern', -32602],
    ['resource', 'legacy', -32002],
    ['template', 'modern', -32602],
  ] as const)(
    'an unknown %s is, for a %s server, the error %i; a long name is not repeated',
    (kind, era, code) => {
      const { error } = notFound(kind, 'x'.repeat(5000), { era });
      expect(error?.code).toBe(code);
      expect(error?.message.length).toBeLessThan(300);
    },
  );
});

describe('entries of a list', () => {
  it('a list has the entries that are objects; a result without one has none', () => {
    const tools = lists.get('tools/list');
    if (!tools) throw new Error('no list');
    expect(entriesOf({ tools: [{ name: 'a' }, 5, null, ['b']] }, tools)).toEqual([{ name: 'a' }]);
    expect([entriesOf({ tools: {} }, tools), entriesOf(undefined, tools)]).toEqual([undefined, undefined]);
  });

  it('a list is given with other entries and all else it holds; one that cannot be read has none (T-210)', async () => {
    const none = () => [];
    const listed = { result: { tools: [{ name: 'a' }, { name: 'b' }, 5], nextCursor: 'c' } };
    expect(
      await withEntries('tools/list', listed, (tools) => tools.filter(({ name }) => name === 'b')),
    ).toEqual({
      result: { tools: [{ name: 'b' }], nextCursor: 'c' },
    });
    expect(await withEntries('tools/list', { result: { tools: 'none' } }, (tools) => tools)).toEqual({
      result: { tools: [] },
    });
    const others = [{ error: { code: -32603, message: 'x' } }, { result: {} }];
    for (const answer of others) expect(await withEntries('tools/list', answer, none)).toBe(answer);
    expect(await withEntries('tools/call', listed, none)).toBe(listed);
  });

  it('thousands of entries are read in their order while others have their turn (T-210)', async () => {
    let turns = 0;
    const watch = setInterval(() => turns++, 1);
    const read = await mapInTurns([1, 2, 3, 4, 5], (entry) => {
      const untilMs = performance.now() + 11;
      while (performance.now() < untilMs);
      return entry * 2;
    });
    clearInterval(watch);
    expect(read).toEqual([2, 4, 6, 8, 10]);
    expect(turns).toBeGreaterThanOrEqual(3);
  });
});
