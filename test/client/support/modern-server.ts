import {
  acceptedContent,
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  inputResponse,
  McpServer,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { serveFetch } from '../../support/serve-fetch.ts';

/** A real MCP server made with SDK v2, on loopback, that speaks 2026-07-28. */
export interface ModernServer {
  url: string;
  /** `tools/call` and so on, of every request in order. */
  asked: string[];
  /** Headers of the last request of each method. */
  headers: Map<string, Record<string, unknown>>;
  notify: ServerNotifier;
  /** Cuts every connection. */
  cut(): void;
  /** Calls of `wait` that were given up by their client. */
  cancelled(): number;
}

const nameSchema = z.object({ name: z.string() });
const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

function register(server: McpServer, cancelled: () => void): void {
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, (args) => text(args.text));
  server.registerTool('greet', {}, ({ mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, 'name', nameSchema);
    const ask = inputRequired.elicit({ message: 'Who?', requestedSchema: nameSchema });
    return given ? text(`Hello, ${given.name}`) : inputRequired({ inputRequests: { name: ask } });
  });
  server.registerTool('think', {}, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'thought');
    if (answer.kind === 'sampling') return text(JSON.stringify(answer.result.content));
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Think' } }];
    return inputRequired({
      inputRequests: { thought: inputRequired.createMessage({ messages, maxTokens: 10 }) },
    });
  });
  server.registerTool('where', {}, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'roots');
    return answer.kind === 'roots'
      ? text(answer.roots.map(({ uri }) => uri).join(' '))
      : inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
  });
  server.registerTool('work', {}, async ({ mcpReq }) => {
    const { progressToken } = mcpReq._meta ?? {};
    await mcpReq.log('info', 'working');
    if (progressToken !== undefined)
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress: 1, total: 2 },
      });
    return text('done');
  });
  server.registerTool('wait', {}, async ({ mcpReq }) => {
    await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve));
    cancelled();
    return text('never heard');
  });
  const region = { type: 'string', 'x-mcp-header': 'Region' };
  server.registerTool(
    'travel',
    { inputSchema: fromJsonSchema({ type: 'object', properties: { region } } as never) },
    (args) => text((args as { region: string }).region),
  );
}

/** Starts the server, for clients of 2026-07-28 alone, or of every revision. */
export async function startModernServer(legacy: 'reject' | 'stateless' = 'reject'): Promise<ModernServer> {
  const asked: string[] = [];
  const headers = new Map<string, Record<string, unknown>>();
  let cancelled = 0;
  const handler = createMcpHandler(
    () => {
      const server = new McpServer(
        { name: 'modern', version: '1' },
        { capabilities: { logging: {}, tools: { listChanged: true } }, instructions: 'Be kind.' },
      );
      register(server, () => {
        cancelled++;
      });
      return server;
    },
    { legacy },
  );
  const { url, cut, stop } = await serveFetch((request, { body, incoming }) => {
    const method = body === '' ? request.method : (JSON.parse(body) as { method: string }).method;
    asked.push(method);
    headers.set(method, incoming.headers);
    return handler.fetch(request);
  });
  onTestFinished(async () => {
    await handler.close();
    await stop();
  });
  return {
    url,
    asked,
    headers,
    notify: handler.notify,
    cut,
    cancelled: () => cancelled,
  };
}
