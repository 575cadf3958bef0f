import { randomBytes } from 'node:crypto';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport, ProtocolError, Server } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { generateSealingKey } from '../../src/crypto/key-schedule.ts';
import { createSealedBox, createTextSeal } from '../../src/crypto/sealed-box.ts';
import {
  createPaging,
  createSealedCursors,
  type Page,
  type PageRequest,
  type Paging,
} from '../../src/mcp/paging.ts';
import { patience } from '../support/patience.ts';

const key = randomBytes(32);
const listOf = (names: readonly string[], name = 'tools/list') => ({
  name,
  items: names.map((each) => ({ name: each })),
  keyOf: (item: { name: string }) => item.name,
});
const namesOf = (page: Page<{ name: string }>) => page.items.map(({ name }) => name);

/** Asks for pages until the last one; `change` alters the list after each. */
function allPages(paging: Paging, names: string[], pageSize: number, change = (_page: number) => {}) {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = paging.page(listOf(names), { cursor, pageSize });
    pages.push(namesOf(page));
    cursor = page.nextCursor;
    change(pages.length);
  } while (cursor !== undefined && pages.length < 100);
  return pages;
}

describe('pages', () => {
  const paging = createPaging({ key });

  it('go through a list in the order of its keys, and the last one has no cursor (C6-06)', () => {
    expect(allPages(paging, ['c', 'a', 'e', 'b', 'd'], 2)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(allPages(paging, ['b', 'a'], 2)).toEqual([['a', 'b']]);
    expect(allPages(paging, [], 2)).toEqual([[]]);
    expect('nextCursor' in paging.page(listOf(['a']), { pageSize: 1 })).toBe(false);
  });

  it('begin at the start for an empty cursor (C6-06)', () => {
    expect(namesOf(paging.page(listOf(['b', 'a']), { cursor: '', pageSize: 1 }))).toEqual(['a']);
  });

  it('give no item twice and leave none out while others come and go, the last one given included', () => {
    const names = ['b', 'd', 'f', 'h'];
    const pages = allPages(paging, names, 2, (page) => {
      if (page === 1) names.splice(0, 2, 'a', 'c', 'e');
    });
    expect(pages).toEqual([['b', 'd'], ['e', 'f'], ['h']]);
  });

  it('go on behind keys of any characters', () => {
    const names = ['', ' ', '"', '.', 'ä', '\u0000', '\ud800', '\udfff', '🗝', '__proto__'];
    const pages = allPages(paging, names, 1);
    expect(pages.flat()).toEqual([...names].sort());
  });

  it('go on after a restart with the same key', () => {
    const { nextCursor } = paging.page(listOf(['a', 'b']), { pageSize: 1 });
    const again = createPaging({ key: Uint8Array.from(key) });
    expect(namesOf(again.page(listOf(['a', 'b']), { cursor: nextCursor, pageSize: 1 }))).toEqual(['b']);
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('of %d items there are none', (pageSize) => {
    expect(() => paging.page(listOf(['a']), { pageSize })).toThrow(RangeError);
  });

  it('of a list with a key twice say so, instead of losing an item', () => {
    expect(() => paging.page(listOf(['a', 'b', 'a']), { pageSize: 1 })).toThrow(/have the key "a"/);
  });

  it('need a key of bytes', () => {
    const text = { key: 'a text of more than thirty-two letters' } as unknown as { key: Uint8Array };
    expect(() => createPaging(text)).toThrow('has to be bytes');
  });

  it('need a key of 32 bytes, which does not change behind their back', () => {
    expect(() => createPaging({ key: randomBytes(31) })).toThrow(RangeError);
    const own = randomBytes(32);
    const kept = createPaging({ key: own });
    const { nextCursor } = kept.page(listOf(['a', 'b']), { pageSize: 1 });
    own.fill(0);
    expect(kept.page(listOf(['a', 'b']), { cursor: nextCursor, pageSize: 1 }).items).toHaveLength(1);
  });
});

describe('a cursor', () => {
  const paging = createPaging({ key });
  const given = (request: Partial<PageRequest> = {}, name?: string): string => {
    const { nextCursor } = paging.page(listOf(['a', 'b', 'c'], name), { pageSize: 1, ...request });
    if (nextCursor === undefined) throw new Error('there is one page only');
    return nextCursor;
  };
  const refusal = (cursor: string, request: Partial<PageRequest> = {}, name?: string): unknown => {
    try {
      return paging.page(listOf(['a', 'b', 'c'], name), { cursor, pageSize: 1, ...request });
    } catch (error) {
      return error;
    }
  };
  const refused = { code: -32602, message: expect.stringContaining('cursor is not valid') };

  it('is valid for its own list and scope alone (C6-06)', () => {
    const forAda = given({ scope: 'ada' });
    expect(refusal(forAda, { scope: 'ada' })).toMatchObject({ items: [{ name: 'b' }] });
    expect(refusal(forAda, { scope: 'grace' })).toMatchObject(refused);
    expect(refusal(forAda)).toMatchObject(refused);
    expect(refusal(forAda, { scope: 'ada' }, 'prompts/list')).toMatchObject(refused);
    expect(refusal(given(), { scope: '' })).toMatchObject(refused);
    expect(refusal(given(), { scope: 'null' })).toMatchObject(refused);
  });

  it('of another key is refused', () => {
    const { nextCursor } = createPaging({ key: randomBytes(32) }).page(listOf(['a', 'b']), { pageSize: 1 });
    expect(refusal(nextCursor ?? '')).toMatchObject(refused);
  });

  it('changed in any character is refused, and so is the beginning of one', () => {
    const cursor = given();
    for (let at = 0; at < cursor.length; at++) {
      const other = cursor[at] === 'A' ? 'B' : 'A';
      expect(refusal(cursor.slice(0, at) + other + cursor.slice(at + 1)), `at ${at}`).toMatchObject(refused);
      if (at > 0) expect(refusal(cursor.slice(0, at)), `cut at ${at}`).toMatchObject(refused);
    }
  });

  it.each(['x', '0', '.', ' ', 'null', `IiI.${'A'.repeat(43)}`, `e30.${'A'.repeat(43)}`, 'ü'.repeat(99)])(
    'that was never given out is refused: %j',
    (cursor) => {
      const error = refusal(cursor);
      expect(error).toBeInstanceOf(ProtocolError);
      expect(error).toMatchObject(refused);
    },
  );

  it('of a megabyte is refused at once', () => {
    const begun = performance.now();
    expect(refusal(`${'A'.repeat(1_000_000)}.${'A'.repeat(43)}`)).toMatchObject(refused);
    expect(refusal('A'.repeat(1_000_000))).toMatchObject(refused);
    expect(performance.now() - begun).toBeLessThan(patience(1000));
  });
});

describe('a server of the SDK', () => {
  it('gives its list in pages, which a client puts together, and refuses a wrong cursor with -32602 (C6-06)', async () => {
    const paging = createPaging({ key });
    const names = Array.from({ length: 7 }, (_, at) => `tool-${at}`);
    const tools = {
      name: 'tools/list',
      items: names.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
      keyOf: ({ name }: { name: string }) => name,
    };
    const asked: (string | undefined)[] = [];
    const server = new Server({ name: 'pages', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', ({ params }) => {
      asked.push(params?.cursor);
      const { items, ...rest } = paging.page(tools, { cursor: params?.cursor, pageSize: 3 });
      return { tools: items, ...rest };
    });
    const client = new Client({ name: 'reader', version: '1' });
    const [near, far] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(far), client.connect(near)]);
    onTestFinished(() => client.close());

    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names);
    expect(asked).toHaveLength(3);
    await expect(
      client.request({ method: 'tools/list', params: { cursor: 'made up' } }),
    ).rejects.toMatchObject({
      code: -32602,
    });
  });
});

describe('sealed cursors', () => {
  it('are good at each node of an installation, for their owner, list and scope alone (C6-06)', () => {
    const keys = [generateSealingKey()];
    const ofNode = (owner = 'route') => createSealedCursors(createTextSeal(createSealedBox(keys)), owner);
    const cursor = ofNode().write('position', 'tools/list', 'ada');
    expect(cursor).not.toContain(Buffer.from('position').toString('base64url'));
    expect(ofNode().read(cursor, 'tools/list', 'ada')).toBe('position');
    for (const read of [
      () => ofNode('other').read(cursor, 'tools/list', 'ada'),
      () => ofNode().read(cursor, 'prompts/list', 'ada'),
      () => ofNode().read(cursor, 'tools/list', 'grace'),
      () => ofNode().read(cursor, 'tools/list', undefined),
      () => ofNode().read('made up', 'tools/list', 'ada'),
    ])
      expect(read).toThrow(ProtocolError);
  });
});
