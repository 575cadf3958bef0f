import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { internalRequest } from '../../../src/mcp/modern/internal-call.ts';
import { connectSharedServer } from '../../../src/mcp/modern/shared-server.ts';
import type { Answer, Backend, McpLike } from '../../../src/mcp/protocol.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { callBackend, createCaller } from '../support/modern-calls.ts';
import { createTestServer } from '../support/modern-endpoint.ts';

async function connect(server: McpLike) {
  const publish = vi.fn();
  const onEnd = vi.fn();
  const backend = await connectSharedServer({ server, publish, onEnd, logger: createLogger('silent') });
  return { backend: backend as Backend, publish, onEnd };
}

describe('one server for all callers', () => {
  it('is not one that does not list 2026-07-28, which is left unconnected', async () => {
    const server = new McpServer({ name: 'a', version: '1' });
    const { backend, onEnd } = await connect(server);
    expect(backend).toBeUndefined();
    expect(server.isConnected()).toBe(false);
    expect(onEnd).not.toHaveBeenCalled();
  });

  it('has progress routed by its token, and what belongs to nobody dropped (T-127)', async () => {
    const server = createTestServer((made) => {
      made.registerTool('stray', { inputSchema: z.object({}) }, async (_input, { mcpReq }) => {
        const { progressToken } = mcpReq._meta ?? {};
        const send = made.server.notification.bind(made.server);
        for (const token of [progressToken, 999, 'mine'])
          await send({
            method: 'notifications/progress',
            params: { progressToken: token as string, progress: 1 },
          });
        await made.sendLoggingMessage({ level: 'error', data: 'secret of somebody' });
        return { content: [] };
      });
    });
    const { backend, publish } = await connect(server);
    const { notifications } = await callBackend(
      backend,
      'tools/call',
      { name: 'stray' },
      { progressToken: 'mine' },
    );
    expect(notifications).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 'mine' } },
    ]);
    expect(notifications).toHaveLength(1);
    expect(publish).not.toHaveBeenCalled();
  });

  it('asks clients nothing: a request of it is answered with an error (B5-13)', async () => {
    const server = createTestServer((made) => {
      made.registerTool('ask', { inputSchema: z.object({}) }, async (_input, { mcpReq }) => {
        const answer = await mcpReq.send({ method: 'own/question' }, z.object({})).catch((error) => error);
        return { content: [{ type: 'text', text: String(answer.message) }] };
      });
    });
    const { backend } = await connect(server);
    const { answer } = await callBackend(backend, 'tools/call', { name: 'ask' });
    expect(answer.result).toMatchObject({
      content: [{ text: expect.stringContaining('no requests from servers') }],
    });
  });

  it('that ends leaves no call without an answer', async () => {
    const server = createTestServer((made) => {
      made.registerTool('hang', { inputSchema: z.object({}) }, () => new Promise(() => {}));
    });
    const { backend, onEnd } = await connect(server);
    const hanging = callBackend(backend, 'tools/call', { name: 'hang' });
    await server.close();
    expect((await hanging).answer).toMatchObject({ status: 500, error: { code: -32603 } });
    expect(onEnd).toHaveBeenCalledOnce();
  });

  it('stops work that is cancelled, and forgets it', async () => {
    const aborted = vi.fn();
    const server = createTestServer((made) => {
      made.registerTool('hang', { inputSchema: z.object({}) }, (_input, { mcpReq }) => {
        mcpReq.signal.addEventListener('abort', aborted);
        return new Promise(() => {});
      });
    });
    const { backend } = await connect(server);
    const answer = vi.fn<(answer: Answer) => void>();
    const request = internalRequest('tools/call', { name: 'hang' });
    const cancel = backend.begin({ request, caller: createCaller(), notify: () => {}, answer });
    await new Promise(setImmediate);
    cancel();
    cancel();
    await vi.waitFor(() => expect(aborted).toHaveBeenCalledOnce());
    await backend.close();
    expect(answer).not.toHaveBeenCalled();
  });
});
