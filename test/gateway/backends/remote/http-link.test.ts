import { expect, it, onTestFinished, vi } from 'vitest';
import { FairQueue } from '../../../../src/collections/fair-queue.ts';
import { createHttpLink } from '../../../../src/gateway/backends/remote/http-link.ts';
import { Wire } from '../../../../src/gateway/backends/remote/wire.ts';
import { HeldBytes } from '../../../../src/mcp/http/held-bytes.ts';
import { createCaller } from '../../../mcp/support/modern-calls.ts';

/** A way to a server that is not there, with what is sent to it. */
function makeLink(headers: Record<string, string> = {}) {
  const url = new URL('http://127.0.0.1:9/mcp');
  const times = { connectMs: 1000, headMs: 1000, bodyMs: 1000 };
  const wire = new Wire({ url, ...times, allowsPlainHttp: false });
  onTestFinished(() => wire.close());
  const send = vi.spyOn(wire, 'send');
  const limits = { running: 1, waiting: 1, perCaller: { running: 1, waiting: 1 } };
  const [lanes, streams] = [new FairQueue(limits), new FairQueue(limits)];
  const credentials = async () => ({ headers });
  const link = createHttpLink({
    ...{
      name: 'Notes',
      wire,
      url,
      headers: [],
      lanes,
      streams,
      maxAnswerBytes: 1000,
      maxAnswerValues: 1_000,
      held: new HeldBytes(),
      credentials,
    },
  });
  const ask = (method: string) =>
    new Promise((answered, failed) => {
      const request = { jsonrpc: '2.0' as const, id: 1, method, params: {} };
      link.send(
        request,
        { caller: createCaller(), parameters: [] },
        { notified: () => undefined, answered, failed },
      );
    });
  return { ask, send, lanes, link };
}

it.each(['x\ny', 'x\r\nx-user: admin', 'mé', ''])(
  'the method %j is no header, and goes to no server (T-132, T-159)',
  async (method) => {
    const { ask, send, lanes } = makeLink();
    expect(await ask(method)).toEqual({ status: 404, error: { code: -32601, message: 'Method not found' } });
    expect([send.mock.calls, lanes.running]).toEqual([[], 0]);
  },
);

it('what a person entered is in no header that says how long the request is, or whom it is for (T-157)', async () => {
  const { ask, send } = makeLink({
    'x-key': 'k',
    'content-length': '5',
    'transfer-encoding': 'chunked',
    host: 'x',
  });
  await ask('tools/list').catch(() => undefined);
  const sent = send.mock.calls[0]?.[0].headers ?? [];
  expect(sent).toContain('x-key');
  for (const name of ['content-length', 'transfer-encoding', 'host']) expect(sent).not.toContain(name);
});

it('the way to a server that is closed asks it nothing more, whoever asks again', async () => {
  const { ask, send, link, lanes } = makeLink();
  const under = ask('tools/list').catch((failure) => ask('tools/list').catch((again) => [failure, again]));
  await link.close();
  const ended = { error: { data: { reason: 'backend_ended' } }, isBroken: false };
  expect(await under).toMatchObject([ended, ended]);
  await expect(ask('subscriptions/listen')).rejects.toMatchObject(ended);
  expect([send.mock.calls, lanes.running]).toEqual([[], 0]);
});
