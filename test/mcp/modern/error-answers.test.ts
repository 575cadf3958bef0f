import { describe, expect, it, vi } from 'vitest';
import type { Reply } from '../../../src/mcp/http/exchange.ts';
import { headerMismatch, sendAnswer, stateNotValid } from '../../../src/mcp/modern/error-answers.ts';

const replyOf = (isClosed: boolean) =>
  ({ isClosed, json: vi.fn() }) as unknown as Reply & { json: ReturnType<typeof vi.fn> };

describe('an answer to a request that never became a call', () => {
  it('names the header that is wrong, with the id of the request (B5-04)', () => {
    const reply = replyOf(false);
    sendAnswer({ reply }, 'a', headerMismatch({ header: 'Mcp-Name', problem: 'it is missing' }));
    expect(reply.json).toHaveBeenCalledExactlyOnceWith(
      400,
      {
        jsonrpc: '2.0',
        id: 'a',
        error: expect.objectContaining({ code: -32020, message: expect.stringContaining('Mcp-Name') }),
      },
      undefined,
    );
  });

  it('has the id null where the message had none', () => {
    const reply = replyOf(false);
    sendAnswer({ reply }, undefined, stateNotValid);
    expect(reply.json.mock.calls[0]?.slice(0, 2)).toMatchObject([200, { id: null, error: { code: -32602 } }]);
  });

  it('is not sent to a client that is gone', () => {
    const reply = replyOf(true);
    sendAnswer({ reply }, 1, stateNotValid);
    expect(reply.json).not.toHaveBeenCalled();
  });
});
