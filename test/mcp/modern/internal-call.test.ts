import { afterEach, describe, expect, it, vi } from 'vitest';
import { discoverBy, internalCall } from '../../../src/mcp/modern/internal-call.ts';
import type { Backend } from '../../../src/mcp/protocol.ts';
import { patienceOf, withPatience } from '../../../src/mcp/upstreams/upstream.ts';
import { createCaller } from '../support/modern-calls.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('a question of our own', () => {
  it('is a whole request, asked as the caller (C3-01)', async () => {
    const begin: Backend['begin'] = ({ request, caller, answer }) => {
      answer({ status: 200, result: { request, subject: caller.authInfo.subject } });
      return () => {};
    };
    expect(
      (await internalCall(begin, 'tools/list', { cursor: 'a' }, createCaller('bob'))).result,
    ).toMatchObject({
      subject: 'bob',
      request: {
        method: 'tools/list',
        params: {
          cursor: 'a',
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      },
    });
  });

  it('waits for no person, however long the call waits that it is asked for', async () => {
    const begin: Backend['begin'] = ({ caller, answer }) => {
      answer({ status: 200, result: { patienceMs: patienceOf(caller.authInfo) } });
      return () => {};
    };
    const caller = createCaller();
    const asking = { ...caller, authInfo: withPatience(caller.authInfo, 30_000) };
    expect((await internalCall(begin, 'tools/list', {}, asking)).result).toEqual({ patienceMs: 0 });
    expect(patienceOf(asking.authInfo)).toBe(30_000);
  });

  it('that is not answered within ten seconds is cancelled, and answered with an error', async () => {
    vi.useFakeTimers();
    const cancel = vi.fn();
    const answered = internalCall(() => cancel, 'tools/list', {}, createCaller());
    vi.advanceTimersByTime(9_999);
    expect(cancel).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(await answered).toMatchObject({ status: 500, error: { code: -32603 } });
    expect(cancel).toHaveBeenCalledOnce();
  });

  it('about what a server can do has an answer even where the server has none', async () => {
    const begin: Backend['begin'] = ({ answer }) => {
      answer({ status: 404, error: { code: -32601, message: 'Method not found' } });
      return () => {};
    };
    expect(await discoverBy(begin, createCaller())).toEqual({ capabilities: {}, serverInfo: undefined });
  });
});
