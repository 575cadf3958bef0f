import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { describe, expect, it, vi } from 'vitest';
import { HostChannel, HostQuestions } from '../../../../src/client/node/bridge/host-channel.ts';

function channel(maxLineBytes?: number) {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const heard: JSONRPCMessage[] = [];
  const finished = vi.fn();
  const gone = vi.fn();
  const opened = new HostChannel(
    { stdin, stdout, maxLineBytes },
    { heard: (message) => heard.push(message), finished, gone },
  );
  return { stdin, stdout, heard, finished, gone, opened, said: () => String(stdout.read() ?? '') };
}

const ping = (id: number) => ({ jsonrpc: '2.0' as const, id, method: 'ping' });

describe('a host on standard input and output', () => {
  it('says one message a line, in whatever pieces they come (B1-03)', async () => {
    const { stdin, heard } = channel();
    const bytes = Buffer.from(
      `${JSON.stringify({ ...ping(1), params: { a: 'ü' } })}\r\n\n${JSON.stringify(ping(2))}\n`,
    );
    for (const byte of bytes) stdin.write(Buffer.from([byte]));
    await turn();
    expect(heard).toEqual([{ ...ping(1), params: { a: 'ü' } }, ping(2)]);
  });

  it('may send the batches of 2025-03-26 (B1-04)', async () => {
    const { stdin, heard } = channel();
    stdin.write(`${JSON.stringify([ping(1), ping(2)])}\n`);
    await turn();
    expect(heard).toEqual([ping(1), ping(2)]);
  });

  it('is told what is no message, and goes on', async () => {
    const { stdin, heard, said } = channel(64);
    stdin.write(`{\n${'x'.repeat(65)}\n${JSON.stringify(ping(3))}\n`);
    await turn();
    const codes = said()
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { error: { code: number } }).error.code);
    expect(codes).toEqual([-32700, -32600]);
    expect(heard).toEqual([ping(3)]);
  });

  it('hears one message a line', () => {
    const { opened, said } = channel();
    opened.write({ jsonrpc: '2.0', id: 1, result: { text: 'a\nb' } });
    expect(said()).toBe('{"jsonrpc":"2.0","id":1,"result":{"text":"a\\nb"}}\n');
  });

  it('is finished at the end of its input, and gone once it listens no more', async () => {
    const { stdin, stdout, finished, gone, opened } = channel();
    stdin.end();
    await vi.waitFor(() => expect(finished).toHaveBeenCalledOnce());
    stdout.destroy(new Error('EPIPE'));
    await vi.waitFor(() => expect(gone).toHaveBeenCalledOnce());
    opened.write(ping(1));
  });
});

describe('host questions', () => {
  function questions() {
    const written: JSONRPCMessage[] = [];
    const asked = new HostQuestions({ write: (message) => written.push(message) });
    return { asked, written };
  }

  describe('questions to a host', () => {
    it('each get their own answer, in any order', async () => {
      const { asked, written } = questions();
      const answers = [asked.ask('roots/list'), asked.ask('elicitation/create', { message: 'Who?' })];
      const [first, second] = written as { id: string; method: string; params?: object }[];
      expect(second).toMatchObject({ method: 'elicitation/create', params: { message: 'Who?' } });
      asked.take({ jsonrpc: '2.0', id: second?.id ?? '', result: { action: 'decline' } });
      asked.take({ jsonrpc: '2.0', id: first?.id ?? '', result: { roots: [] } });
      asked.take({ jsonrpc: '2.0', id: 'gatehouse-9', result: {} });
      expect(await Promise.all(answers)).toEqual([{ roots: [] }, { action: 'decline' }]);
    });

    it('fail as the host answers', async () => {
      const { asked } = questions();
      const answer = asked.ask('sampling/createMessage', {});
      asked.take({ jsonrpc: '2.0', id: 'gatehouse-1', error: { code: -1, message: 'the person will not' } });
      await expect(answer).rejects.toMatchObject({ code: -1, message: 'the person will not' });
    });
  });
});
