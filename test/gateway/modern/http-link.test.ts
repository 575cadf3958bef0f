import { expect, it, vi } from 'vitest';
import { Lanes } from '../../../src/gateway/backends/remote/lanes.ts';
import { Wire } from '../../../src/gateway/backends/remote/wire.ts';
import { createHttpLink } from '../../../src/gateway/modern/http-link.ts';
import { createCaller } from '../../mcp/support/modern-calls.ts';

it.each(['x\ny', 'x\r\nx-user: admin', 'mé', ''])(
  'the method %j is no header, and goes to no server (T-132, T-159)',
  async (method) => {
    const url = new URL('http://127.0.0.1:9/mcp');
    const times = { connectMs: 1000, headMs: 1000, bodyMs: 1000 };
    const wire = new Wire({ url, ...times, allowsPlainHttp: false });
    const send = vi.spyOn(wire, 'send');
    const limits = { total: 1, perAccount: 1, waitingPerAccount: 1 };
    const [lanes, streams] = [new Lanes(limits), new Lanes(limits)];
    const credentials = async () => ({});
    const link = createHttpLink({
      ...{ name: 'Notes', wire, url, headers: [], lanes, streams, maxAnswerBytes: 1000, credentials },
    });
    const answer = await new Promise((answered, failed) => {
      const request = { jsonrpc: '2.0' as const, id: 1, method, params: {} };
      link.send(
        request,
        { caller: createCaller(), parameters: [] },
        { notified: () => undefined, answered, failed },
      );
    });
    expect(answer).toEqual({ status: 404, error: { code: -32601, message: 'Method not found' } });
    expect([send.mock.calls, lanes.taken]).toEqual([[], 0]);
  },
);
