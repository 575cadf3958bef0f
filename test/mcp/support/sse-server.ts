import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { callerOf } from '../../../src/mcp/sdk/caller.ts';
import type { ServerFactory } from '../../../src/mcp/sdk/server-factory.ts';

/** What happened in the servers that were made. */
export interface Witness {
  made: McpServer[];
  closed: number;
  started: string[];
  aborted: string[];
}

/** Makes servers with a tool that answers, one that waits to be let go, and one that looks at its request. */
export function createPatientServer(): {
  factory: ServerFactory;
  witness: Witness;
  /** Lets the waiting calls go on. */
  release(): void;
} {
  const witness: Witness = { made: [], closed: 0, started: [], aborted: [] };
  const released = new AbortController();
  const factory: ServerFactory = () => {
    const server = new McpServer({ name: 'patient', version: '1.0.0' });
    witness.made.push(server);
    server.server.onclose = () => {
      witness.closed++;
    };
    server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
      content: [{ type: 'text', text }],
    }));
    server.registerTool('look', {}, (context) => {
      const { headers, url = '' } = context.http?.req ?? {};
      const said = `${[...(headers ?? [])]} for ${callerOf(context).subject} at ${new URL(url).pathname}`;
      return { content: [{ type: 'text', text: said }] };
    });
    server.registerTool(
      'wait',
      { inputSchema: z.object({ label: z.string() }) },
      async ({ label }, { mcpReq }) => {
        witness.started.push(label);
        mcpReq.signal.addEventListener('abort', () => witness.aborted.push(label));
        const either = AbortSignal.any([mcpReq.signal, released.signal]);
        await sleep(20_000, undefined, { signal: either }).catch(() => undefined);
        return { content: [{ type: 'text', text: `${label} waited` }] };
      },
    );
    return server;
  };
  return { factory, witness, release: () => released.abort() };
}
