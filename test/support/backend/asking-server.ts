// An MCP server as somebody else would write it with SDK v2: it asks its client, reports, logs and tells of changes.
import { setTimeout as pause } from 'node:timers/promises';
import {
  acceptedContent,
  inputRequired,
  inputResponse,
  McpServer,
  type ServerContext,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] });
const form = z.object({ name: z.string() });
const elicit = (message: string) => inputRequired.elicit({ message, requestedSchema: form });
const sample = () =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: 'Say a word.' } }],
    maxTokens: 5,
  });

/** What a server of the tests has seen, over all its instances. */
export interface Memory {
  /** Names of tools in the order in which they were called, retries among them. */
  ran: string[];
  aborted: string[];
}

/** What tells the listeners of a change; servers made for each request cannot do it themselves. */
export interface Announce {
  toolsChanged(): void;
  resourceUpdated(uri: string): void;
}

/** How the server is made. */
export interface AskingServerOptions {
  memory?: Memory;
  announce?: Announce;
  /** Whether it speaks 2026-07-28 alone. */
  isModernOnly?: boolean;
}

/** Makes the server. */
export function createAskingServer({ memory, announce, isModernOnly }: AskingServerOptions = {}): McpServer {
  const server = new McpServer(
    { name: 'asking', version: '1' },
    {
      supportedProtocolVersions: ['2026-07-28', ...(isModernOnly ? [] : SUPPORTED_PROTOCOL_VERSIONS)],
      instructions: 'Ask, and you will be asked.',
      capabilities: {
        logging: {},
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
      },
      cacheHints: { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } },
    },
  );
  const add = (
    name: string,
    run: (context: ServerContext, input: Record<string, string>) => unknown,
  ): void => {
    server.registerTool(name, { inputSchema: z.record(z.string(), z.string()) }, (input, context) => {
      memory?.ran.push(name);
      return run(context, input) as ReturnType<typeof text>;
    });
  };
  add('echo', async (_context, { text: said, delayMs = '0' }) => {
    await pause(Number(delayMs));
    return text({ said, pid: process.pid });
  });
  add('look', ({ mcpReq: { _meta, envelope }, http }) =>
    text({ meta: { ...envelope, ..._meta }, headers: Object.fromEntries(http?.req?.headers ?? []) }),
  );
  add('ask', ({ mcpReq }, { whom = 'nobody' }) => {
    const given = acceptedContent(mcpReq.inputResponses, 'name', form);
    return given
      ? text({ name: given.name, state: mcpReq.requestState() })
      : inputRequired({ inputRequests: { name: elicit('Your name?') }, requestState: `state of ${whom}` });
  });
  add('sample', ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'word');
    return answer.kind === 'sampling'
      ? text(answer.result.content)
      : inputRequired({ inputRequests: { word: sample() } });
  });
  add('roots', ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'roots');
    return answer.kind === 'roots'
      ? text(answer.roots.map(({ uri }) => uri))
      : inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
  });
  add('twice', ({ mcpReq }) => {
    const state = mcpReq.requestState() as string | undefined;
    const first = acceptedContent(mcpReq.inputResponses, 'first', form);
    const last = acceptedContent(mcpReq.inputResponses, 'last', form);
    if (state !== undefined && last) return text(`${state} ${last.name}`);
    return first
      ? inputRequired({ inputRequests: { last: elicit('Last name?') }, requestState: first.name })
      : inputRequired({ inputRequests: { first: elicit('First name?') } });
  });
  add('steps', async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [1, 2, 3]) {
      await mcpReq.log('info', `step ${progress}`);
      if (progressToken === undefined) continue;
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 3 },
      });
    }
    return text('done');
  });
  add('change', async (_context, { uri = 'test://a' }) => {
    if (announce) {
      announce.toolsChanged();
      announce.resourceUpdated(uri);
    } else {
      server.sendToolListChanged();
      await server.server.sendResourceUpdated({ uri });
    }
    return text('changed');
  });
  add('hang', ({ mcpReq }) => {
    mcpReq.signal.addEventListener('abort', () => memory?.aborted.push('hang'));
    return new Promise(() => undefined);
  });
  server.registerTool(
    'region',
    { inputSchema: z.object({ region: z.string().optional().meta({ 'x-mcp-header': 'Region' }) }) },
    ({ region }, { http }) => text({ region, header: http?.req?.headers.get('mcp-param-region') }),
  );
  server.registerResource('a', 'test://a', {}, ({ href }) => ({ contents: [{ uri: href, text: 'a' }] }));
  server.registerPrompt('hello', {}, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }],
  }));
  if (!isModernOnly) {
    const subscribed = () => ({});
    server.server.setRequestHandler('resources/subscribe', subscribed);
    server.server.setRequestHandler('resources/unsubscribe', subscribed);
  }
  return server;
}
