import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../../src/mcp/http/refusal.ts';
import type { Message } from '../../../src/mcp/protocol.ts';
import { readMessages } from '../../../src/mcp/reading/messages.ts';
import { RestPosts } from '../../../src/mcp/rest/posts.ts';
import { rpc } from '../support/served-transport.ts';

function setUp(timeoutMs = 5000) {
  const said: Message[] = [];
  const posts = new RestPosts(timeoutMs, (message) => said.push(message));
  return {
    said,
    posts,
    post(body: unknown, onGone: (leave: () => void) => void = () => undefined) {
      const messages = readMessages(body);
      if (isRefusal(messages)) throw new Error(messages.reason);
      return posts.answer(messages, {}, onGone);
    },
    /** Answers what the server was asked as the nth. */
    answer: (nth: number, result: unknown) =>
      posts.hear({ jsonrpc: '2.0', id: said[nth]?.id, result } as unknown as Message),
  };
}

const cancel = (requestId: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

describe('POSTs to one server', () => {
  it('get their own answers, whatever ids their clients chose (B7-13, T-127)', async () => {
    const { said, post, answer } = setUp();
    const first = post(rpc(1, 'ping'));
    const second = post([rpc(1, 'ping'), rpc('1', 'ping')]);
    expect(new Set(said.map(({ id }) => id)).size).toBe(3);
    answer(2, 'second text');
    answer(0, 'first');
    answer(1, 'second number');
    expect((await first).answers).toEqual([{ jsonrpc: '2.0', id: 1, result: 'first' }]);
    expect((await second).answers).toEqual([
      { jsonrpc: '2.0', id: 1, result: 'second number' },
      { jsonrpc: '2.0', id: '1', result: 'second text' },
    ]);
  });

  it('cancel calls of their own alone (T-141)', async () => {
    const { said, post, posts } = setUp();
    void post(rpc(1, 'tools/call', { name: 'a' }));
    expect((await post(cancel(1))).answers).toEqual([]);
    expect((await post([rpc(1, 'tools/call', { name: 'a' }), cancel(1)])).answers).toEqual([]);
    expect(said.map(({ method }) => method)).toEqual(['tools/call', 'tools/call', 'notifications/cancelled']);
    expect(said[2]?.params?.requestId).toBe(said[1]?.id);
    expect(posts.size).toBe(1);
  });

  it('are forgotten when their clients leave, and what they asked is cancelled (B7-13)', async () => {
    const { said, post, posts } = setUp();
    let leave = (): void => undefined;
    const left = post(rpc(1, 'tools/call', { name: 'a' }), (callback) => {
      leave = callback;
    });
    leave();
    expect((await left).answers).toEqual([]);
    expect(said[1]).toMatchObject({ method: 'notifications/cancelled', params: { requestId: said[0]?.id } });
    expect(posts.size).toBe(0);
  });

  it('get errors after the time limit, and when the server closes (B7-09, B7-12)', async () => {
    const late = setUp(40);
    expect(await late.post(rpc(1, 'tools/call', { name: 'a' }))).toMatchObject({
      timedOut: true,
      answers: [{ id: 1, error: { code: -32001 } }],
    });
    const { post, posts } = setUp();
    const running = [post(rpc(1, 'tools/call', { name: 'a' })), post([rpc(1, 'ping'), rpc(2, 'ping')])];
    posts.endAll();
    const ended = await Promise.all(running);
    expect(ended.flatMap(({ answers }) => answers)).toMatchObject(
      [1, 1, 2].map((id) => ({ id, error: { code: -32603 } })),
    );
    expect(posts.size).toBe(0);
  });

  it('hear no notifications, and requests of the server are refused to it at once (B7-11, B7-14)', async () => {
    const { said, post, posts, answer } = setUp();
    const running = post(rpc(1, 'tools/call', { name: 'a' }));
    posts.hear({ jsonrpc: '2.0', method: 'notifications/progress', params: {} });
    posts.hear({ jsonrpc: '2.0', id: 7, method: 'sampling/createMessage' });
    await Promise.resolve();
    expect(said[1]).toMatchObject({ id: 7, error: { code: -32601 } });
    answer(0, 'done');
    expect((await running).answers).toHaveLength(1);
  });

  it('hand no response of a client to the server: it asked nothing (T-128)', async () => {
    const { said, post } = setUp();
    await post({ jsonrpc: '2.0', id: 'rest-1', result: {} });
    expect(said).toEqual([]);
  });
});
