import { randomBytes } from 'node:crypto';
import {
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListToolsResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { isSpecType } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseExact } from '../../../src/collections/exact-json.ts';
import { joinList } from '../../../src/gateway/aggregate/joined-lists.ts';
import type { Member } from '../../../src/gateway/aggregate/member.ts';
import { OpenQuestions } from '../../../src/gateway/aggregate/open-questions.ts';
import { type ListKind, listKinds } from '../../../src/gateway/aggregate/renaming.ts';
import { createCursors } from '../../../src/mcp/paging.ts';
import type { Message } from '../../../src/mcp/protocol.ts';
import { createLogger } from '../../../src/observability/logger.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const tools = listKinds.get('tools/list') as ListKind;
const plain = { inputSchema: { type: 'object' } };
const request = { jsonrpc: '2.0' as const, id: 7, method: 'tools/list', params: {} };

/** Reads the list of several backends, each of which answers with these tools, or never. */
function read(backends: Record<string, unknown[] | 'silent'>, list = tools) {
  const log: string[] = [];
  const cancelled: string[] = [];
  const questions = new OpenQuestions();
  const members = Object.entries(backends).map(([key, listed]) => {
    const member = {
      key,
      backend: { name: key },
      isOpen: true,
      result: { capabilities: { [list.capability]: {} } },
      ready: () => Promise.resolve(undefined),
      say({ id, method }: Message) {
        if (method === 'notifications/cancelled') cancelled.push(key);
        else if (listed !== 'silent')
          queueMicrotask(() =>
            questions.answered(member, { jsonrpc: '2.0', id, result: { [list.member]: listed } } as Message),
          );
      },
    } as unknown as Member;
    return member;
  });
  const cursors = createCursors({ key: randomBytes(32) });
  const logger = createLogger('warn', (line) => log.push(line));
  const again = () => joinList(list, request, {}, { members, questions, cursors, logger });
  return { page: again(), log, cancelled, again };
}

describe('a list of several backends', () => {
  it('is given without one that does not answer within 20 s, which is told so (T-157)', async () => {
    const { page, cancelled } = read({ a: [{ ...plain, name: 't' }], b: 'silent' });
    const joined = vi.fn();
    void page.then(joined);
    await vi.advanceTimersByTimeAsync(19_999);
    expect(joined).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    const { entries, missing } = await page;
    expect(entries).toEqual([{ ...plain, name: 'a_t' }]);
    expect(missing.map(({ member, error }) => [member.key, error.data])).toEqual([
      ['b', { reason: 'backend_call_timed_out' }],
    ]);
    expect(cancelled).toEqual(['b']);
  });

  it('has no tool whose name became too long, and says so to the operator', async () => {
    const { page, log } = read({
      a: [
        { ...plain, name: 'x'.repeat(127) },
        { ...plain, name: 't', execution: {} },
      ],
    });
    expect(await page).toEqual({ entries: [{ ...plain, name: 'a_t' }], nextCursor: undefined, missing: [] });
    expect(log.join('')).toContain('give a shorter key');
  });

  const resource = { uri: 'a:b', name: 'a' };
  const bad = [
    ['tools/list', { name: 'bad' }, 'inputSchema'],
    ['tools/list', { ...plain, name: 'bad', description: null }, 'description'],
    [
      'tools/list',
      { ...plain, name: 'bad', annotations: { readOnlyHint: 'yes' } },
      'annotations.readOnlyHint',
    ],
    [
      'tools/list',
      { name: 'bad', inputSchema: { type: 'object', properties: { a: true } } },
      'inputSchema.properties',
    ],
    ['tools/list', { ...plain, name: 'bad', outputSchema: { type: 'string' } }, 'outputSchema'],
    ['tools/list', { ...plain, name: 7 }, 'name'],
    ['tools/list', null, 'object'],
    ['prompts/list', { name: 'bad', arguments: [{}] }, 'arguments.0.name'],
    ['resources/list', { uri: 'a:bad' }, 'name'],
    ['resources/list', { ...resource, size: '1' }, 'size'],
    ['resources/templates/list', { name: 'bad', uriTemplate: 'a:{b}', title: null }, 'title'],
  ] as const;
  const good = {
    'tools/list': { ...plain, name: 'good' },
    'prompts/list': { name: 'good' },
    'resources/list': resource,
    'resources/templates/list': { name: 'good', uriTemplate: 'a:{b}' },
  };
  const results = {
    'tools/list': [ListToolsResultSchema, 'ListToolsResult'],
    'prompts/list': [ListPromptsResultSchema, 'ListPromptsResult'],
    'resources/list': [ListResourcesResultSchema, 'ListResourcesResult'],
    'resources/templates/list': [ListResourceTemplatesResultSchema, 'ListResourceTemplatesResult'],
  } as const;

  it('of resources keeps one whose numbers stand as they were written (FA-40, FA-43)', async () => {
    const { value } = parseExact('{"uri":"a:1","name":"r","size":1e3,"annotations":{"priority":1.0}}');
    const { page, log } = read({ a: [value] }, listKinds.get('resources/list') as ListKind);
    const { entries } = await page;
    expect(JSON.stringify(entries)).toContain('"size":1e3,"annotations":{"priority":1.0}');
    expect(log).toEqual([]);
  });

  it.each(bad)(
    'of %s is given without %j, which breaks the schema, and that is told once (FA-43)',
    async (method, entry, fault) => {
      const list = listKinds.get(method) as ListKind;
      const { page, log, again } = read({ a: [entry, good[method]], b: [good[method]] }, list);
      const { entries } = await page;
      expect(entries).toHaveLength(2);
      const [v1, v2] = results[method];
      expect(v1.safeParse({ [list.member]: entries }).success).toBe(true);
      expect(isSpecType[v2]({ [list.member]: entries })).toBe(true);
      expect((await again()).entries).toEqual(entries);
      expect(log).toHaveLength(1);
      expect(JSON.parse(log[0] as string)).toMatchObject({
        backend: 'a',
        fault: expect.stringContaining(fault),
      });
    },
  );
});
