import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { serverGone } from '../../../src/mcp/modern/error-answers.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { readAnswer } from '../support/gate.ts';
import { serverEach, startModern } from '../support/modern-endpoint.ts';

describe('a server each', () => {
  it('may have tools of its caller alone, and is closed after its request', async () => {
    const closed = vi.fn();
    const source = serverEach((server, { authInfo }) => {
      server.server.onclose = closed;
      const name = `of-${authInfo?.subject}`;
      server.registerTool(name, { inputSchema: z.object({}) }, () => ({ content: [] }));
    });
    const endpoint = await startModern(source);
    const call = (subject: string) => endpoint.call(subject, 'tools/call', { name: 'of-ann', arguments: {} });
    expect((await readAnswer(await call('ann'))).result).toBeDefined();
    expect((await readAnswer(await call('bob'))).error?.code).toBe(-32602);
    await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(2));
  });

  it('that ends under its request says so, as one server for all does', async () => {
    const source = serverEach((server) => {
      server.registerTool('stop', { inputSchema: z.object({}) }, async () => {
        await server.close();
        return { content: [] };
      });
    });
    const endpoint = await startModern(source);
    const response = await endpoint.call('ann', 'tools/call', { name: 'stop', arguments: {} }, 6);
    const { id, error } = await readAnswer(response);
    expect([response.status, id, error]).toEqual([500, 6, serverGone.error]);
    // What it did before it ended is not to be done twice.
    expect(error?.message).toContain('Look whether the call had its effect before you send it again');
  });

  it('that cannot be made is an answer of its own, and nothing of why', async () => {
    const source = serverEach(() => {
      throw new Error('no database at 10.0.0.5');
    });
    const log: string[] = [];
    const logger = createLogger('error', (line) => log.push(line));
    const endpoint = await startModern(source, { logger });
    const response = await endpoint.call('ann', 'tools/list', {}, 6);
    const { id, error } = await readAnswer(response);
    expect([response.status, id, error?.code]).toEqual([500, 6, -32603]);
    expect(error?.message).not.toContain('10.0.0.5');
    expect(log.map((line) => JSON.parse(line))).toMatchObject([
      { msg: 'an MCP server could not be made', err: { message: 'no database at 10.0.0.5' } },
    ]);
  });

  it('whose own scope rules fail is an answer, and the log says why', async () => {
    const source = serverEach((server) => {
      const scopeChallenge = (): never => {
        throw new Error('no table of grants');
      };
      server.registerTool('guarded', { scopeChallenge }, () => ({ content: [] }));
    });
    const log: string[] = [];
    const logger = createLogger('error', (line) => log.push(line));
    const endpoint = await startModern(source, { logger });
    const response = await endpoint.call('ann', 'tools/call', { name: 'guarded', arguments: {} }, 6);
    expect(await readAnswer(response)).toMatchObject({ id: 6, error: { code: -32603 } });
    expect(log.map((line) => JSON.parse(line))).toMatchObject([
      { msg: 'the scope rules of an MCP server failed', err: { message: 'no table of grants' } },
    ]);
  });
});
