import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { joinList } from '../../../src/gateway/aggregate/joined-lists.ts';
import type { Member } from '../../../src/gateway/aggregate/member.ts';
import { OpenQuestions } from '../../../src/gateway/aggregate/open-questions.ts';
import { type ListKind, listKinds } from '../../../src/gateway/aggregate/renaming.ts';
import type { Message } from '../../../src/mcp/checks/messages.ts';
import { createCursors } from '../../../src/mcp/paging.ts';
import { createLogger } from '../../../src/observability/logger.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const tools = listKinds.get('tools/list') as ListKind;
const request = { jsonrpc: '2.0' as const, id: 7, method: 'tools/list', params: {} };

/** Reads the list of several backends, each of which answers with these tools, or never. */
function read(backends: Record<string, object[] | 'silent'>) {
  const log: string[] = [];
  const cancelled: string[] = [];
  const questions = new OpenQuestions();
  const members = Object.entries(backends).map(([key, listed]) => {
    const member = {
      key,
      backend: { name: key },
      isOpen: true,
      result: { capabilities: { tools: {} } },
      ready: () => Promise.resolve(undefined),
      say({ id, method }: Message) {
        if (method === 'notifications/cancelled') cancelled.push(key);
        else if (listed !== 'silent')
          queueMicrotask(() =>
            questions.answered(member, { jsonrpc: '2.0', id, result: { tools: listed } } as Message),
          );
      },
    } as unknown as Member;
    return member;
  });
  const page = joinList(
    tools,
    request,
    {},
    {
      members,
      questions,
      cursors: createCursors({ key: randomBytes(32) }),
      logger: createLogger('warn', (line) => log.push(line)),
    },
  );
  return { page, log, cancelled };
}

describe('a list of several backends', () => {
  it('is given without one that does not answer within 20 s, which is told so (T-157)', async () => {
    const { page, cancelled } = read({ a: [{ name: 't' }], b: 'silent' });
    const joined = vi.fn();
    void page.then(joined);
    await vi.advanceTimersByTimeAsync(19_999);
    expect(joined).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    const { entries, missing } = await page;
    expect(entries).toEqual([{ name: 'a_t' }]);
    expect(missing.map(({ member, error }) => [member.key, error.data])).toEqual([
      ['b', { reason: 'backend_call_timed_out' }],
    ]);
    expect(cancelled).toEqual(['b']);
  });

  it('has no tool whose name became too long, and says so to the operator', async () => {
    const { page, log } = read({ a: [{ name: 'x'.repeat(127) }, { name: 't', execution: {} }] });
    expect(await page).toEqual({ entries: [{ name: 'a_t' }], nextCursor: undefined, missing: [] });
    expect(log.join('')).toContain('give a shorter key');
  });
});
