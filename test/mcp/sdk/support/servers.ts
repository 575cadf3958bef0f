import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { completable as completableV1 } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CreateMessageResultSchema,
  type ServerNotification,
  type ServerRequest,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { completable, McpServer, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { McpLike } from '../../../../src/mcp/protocol.ts';
import { type CallContext, callerOf } from '../../../../src/mcp/sdk/caller.ts';

/** What happened in the servers of a test. */
export interface Seen {
  made: number;
  closed: number;
  aborted: string[];
  subscribed: string[];
  unsubscribed: string[];
  /** The server made last. */
  last: McpLike | undefined;
}

/** What was seen, before anything happened. */
export function nothingSeen(): Seen {
  return { made: 0, closed: 0, aborted: [], subscribed: [], unsubscribed: [], last: undefined };
}

/** What the tools of both SDK versions do with their context, in one shape. */
interface Doing {
  sessionId: string | undefined;
  caller: CallContext;
  header: (name: string) => string | undefined;
  token: string | number | undefined;
  signal: AbortSignal;
  notify(notification: { method: string; params: Record<string, unknown> }): Promise<void>;
  sample(text: string): Promise<unknown>;
}

const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: String(value) }] });
const question = (said: string) => ({
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: said } }],
  maxTokens: 10,
});
const form = {
  message: 'Which?',
  requestedSchema: { type: 'object' as const, properties: { which: { type: 'string' as const } } },
};
const capabilities = { logging: {}, resources: { subscribe: true } };

async function doSteps({ token, notify }: Doing, label: string, count: number): Promise<void> {
  for (let progress = 1; progress <= count; progress++) {
    await sleep(0);
    await notify({ method: 'notifications/message', params: { level: 'info', data: label } });
    if (token === undefined) continue;
    const params = { progressToken: token, progress, total: count, message: label };
    await notify({ method: 'notifications/progress', params });
  }
}

async function doWait(doing: Doing, label: string, seen: Seen): Promise<void> {
  // A request that was cancelled before its handler began is aborted already.
  if (!doing.signal.aborted) await once(doing.signal, 'abort');
  seen.aborted.push(label);
  await doing
    .notify({ method: 'notifications/message', params: { level: 'info', data: `late ${label}` } })
    .catch(() => undefined);
}

/** Makes a server with SDK version 2 that uses every feature there is. */
export function makeV2(seen: Seen): McpServer {
  seen.made++;
  const server = new McpServer({ name: 'v2', version: '1.0.0' }, { capabilities });
  seen.last = server;
  server.server.onclose = () => {
    seen.closed++;
  };
  const doing = (context: ServerContext): Doing => ({
    sessionId: context.sessionId,
    caller: context,
    header: (name) => context.http?.req?.headers.get(name) ?? undefined,
    token: context.mcpReq._meta?.progressToken,
    signal: context.mcpReq.signal,
    notify: (notification) => context.mcpReq.notify(notification as never),
    sample: async (said) => {
      const method = 'sampling/createMessage';
      return (await context.mcpReq.send({ method, params: question(said) })).content;
    },
  });
  register(server as unknown as Registering, seen, (context) => doing(context as ServerContext), {
    sampleLoosely: (said) => server.server.createMessage(question(said)),
    elicit: (params) => server.server.elicitInput(params as never),
    listRoots: () => server.server.listRoots(),
    log: (data) => server.server.sendLoggingMessage({ level: 'info', data }),
    update: (uri) => server.server.sendResourceUpdated({ uri }),
    complete: (elicitationId) => server.server.createElicitationCompletionNotifier(elicitationId)(),
    language: completable(z.string(), () => ['typescript', 'python']),
  });
  server.server.setRequestHandler('resources/subscribe', ({ params }) => subscribe(seen, params.uri));
  server.server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    seen.unsubscribed.push(params.uri);
    return {};
  });
  return server;
}

/** The same server with SDK version 1. */
export function makeV1(seen: Seen): McpServerV1 {
  seen.made++;
  const server = new McpServerV1({ name: 'v1', version: '1.0.0' }, { capabilities });
  seen.last = server as unknown as McpLike;
  server.server.onclose = () => {
    seen.closed++;
  };
  const doing = (extra: RequestHandlerExtra<ServerRequest, ServerNotification>): Doing => ({
    sessionId: extra.sessionId,
    caller: extra as CallContext,
    header: (name) => extra.requestInfo?.headers[name] as string | undefined,
    token: extra._meta?.progressToken,
    signal: extra.signal,
    notify: (notification) => extra.sendNotification(notification as ServerNotification),
    sample: async (said) => {
      const request = { method: 'sampling/createMessage' as const, params: question(said) };
      return (await extra.sendRequest(request, CreateMessageResultSchema)).content;
    },
  });
  register(server as unknown as Registering, seen, (extra) => doing(extra as never), {
    sampleLoosely: (said) => server.server.createMessage(question(said)),
    elicit: (params) => server.server.elicitInput(params as never),
    listRoots: () => server.server.listRoots(),
    log: (data) => server.server.sendLoggingMessage({ level: 'info', data }),
    update: (uri) => server.server.sendResourceUpdated({ uri }),
    complete: (elicitationId) => server.server.createElicitationCompletionNotifier(elicitationId)(),
    language: completableV1(z.string(), () => ['typescript', 'python']),
  });
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => subscribe(seen, params.uri));
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    seen.unsubscribed.push(params.uri);
    return {};
  });
  return server;
}

function subscribe(seen: Seen, uri: string): Record<string, never> {
  if (uri.startsWith('forbidden:')) throw new Error('Not yours.');
  seen.subscribed.push(uri);
  return {};
}

type Handler = (input: Record<string, string>, context: unknown) => unknown;

/** What both versions of `McpServer` have in common. */
interface Registering {
  registerTool(name: string, config: { inputSchema: unknown }, handler: Handler): unknown;
  registerPrompt(name: string, config: { argsSchema: unknown }, handler: Handler): unknown;
  registerResource(name: string, uri: string, config: object, handler: (uri: URL) => unknown): unknown;
}

/** What a server does without saying during which request. */
interface Loose {
  sampleLoosely(said: string): Promise<{ content: unknown }>;
  elicit(params: object): Promise<{ content?: unknown; action: string }>;
  listRoots(): Promise<{ roots: { uri: string }[] }>;
  log(data: string): Promise<void>;
  update(uri: string): Promise<void>;
  complete(elicitationId: string): Promise<void>;
  language: unknown;
}

function register(server: Registering, seen: Seen, doing: (context: unknown) => Doing, loose: Loose): void {
  const tool = (
    name: string,
    keys: string[],
    run: (input: Record<string, string>, doing: Doing) => unknown,
  ) => {
    const inputSchema = z.object(Object.fromEntries(keys.map((key) => [key, z.string()])));
    const v1Shape = Object.fromEntries(keys.map((key) => [key, z.string()]));
    const handler: Handler = async (input, context) => text(await run(input, doing(context)));
    server.registerTool(
      name,
      { inputSchema: server instanceof McpServerV1 ? v1Shape : inputSchema },
      handler,
    );
  };
  tool('echo', ['text'], (input) => input.text);
  tool('who', [], (_input, { caller, header, sessionId }) =>
    JSON.stringify([callerOf(caller).subject, header('x-test'), header('authorization'), sessionId]),
  );
  tool('steps', ['label', 'count'], async (input, context) => {
    await doSteps(context, input.label as string, Number(input.count));
    return input.label;
  });
  tool('wait', ['label'], (input, context) => doWait(context, input.label as string, seen));
  tool('sample', ['text'], async (input, { sample }) => JSON.stringify(await sample(input.text as string)));
  tool('sample-loosely', ['text'], async (input) => {
    await sleep(1);
    return JSON.stringify((await loose.sampleLoosely(input.text as string)).content);
  });
  tool('elicit', ['mode'], async ({ mode }) => {
    const url = { mode: 'url', message: 'Go', url: 'https://example.com/', elicitationId: 'e-1' };
    const { action, content } = await loose.elicit(mode === 'url' ? url : form);
    return JSON.stringify([action, content]);
  });
  tool('complete', ['id'], ({ id }) => loose.complete(id as string));
  tool('roots', [], async () => (await loose.listRoots()).roots.map(({ uri }) => uri).join());
  tool('log-loosely', ['text'], async (input) => {
    await sleep(1);
    await loose.log(input.text as string);
  });
  tool('log-after', ['text'], (input) => {
    setTimeout(() => void loose.log(input.text as string), 5);
  });
  tool('update', ['uri'], ({ uri }) => loose.update(uri as string));
  tool('grow', ['name'], ({ name }) => tool(name as string, [], () => name));
  tool('break', [], () => seen.last?.close());
  server.registerResource('greeting', 'test://greeting', {}, (uri) => ({
    contents: [{ uri: uri.href, text: 'hello' }],
  }));
  const language = loose.language;
  const argsSchema =
    server instanceof McpServerV1 ? { language } : z.object({ language: language as z.ZodString });
  server.registerPrompt('review', { argsSchema }, (input) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Review ${input.language}` } }],
  }));
}
