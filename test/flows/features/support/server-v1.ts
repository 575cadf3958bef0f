import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  type LoggingLevel,
  McpError,
  ResultSchema,
  type ServerNotification,
  type ServerRequest,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import {
  capabilities,
  completeCity,
  everyMessage,
  identity,
  instructions,
  manyValues,
  readFeature,
  resourcePage,
  template,
} from './offers.ts';
import { type Question, questionsNamed } from './questions.ts';
import { createFeatureTools, type Doing, type Memory, said } from './tools.ts';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** Makes the server of the features with SDK version 1. */
export function createServerV1(memory: Memory): McpServer {
  const server = new McpServer(identity, { capabilities, instructions });
  registerTools(server, memory);
  registerOffers(server, memory);
  return server;
}

function doingOf({ server }: McpServer, extra: Extra): Doing {
  const progressToken = extra._meta?.progressToken;
  const announcements = {
    tools: () => server.sendToolListChanged(),
    prompts: () => server.sendPromptListChanged(),
    resources: () => server.sendResourceListChanged(),
  };
  return {
    meta: { ...extra._meta },
    signal: extra.signal,
    async progress(progress, total, message) {
      if (progressToken === undefined) return;
      const params = { progressToken, progress, total, message };
      await extra.sendNotification({ method: 'notifications/progress', params });
    },
    log: (level, data) =>
      server.sendLoggingMessage({ level: level as LoggingLevel, logger: 'features', data }, extra.sessionId),
    announce: (list) => announcements[list](),
    updated: (uri) => server.sendResourceUpdated({ uri }),
    ping: () => extra.sendRequest({ method: 'ping' }, ResultSchema),
    sample: (timeout) =>
      extra.sendRequest(
        { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
        ResultSchema,
        {
          timeout,
        },
      ),
  };
}

async function ask(asked: [string, Question][], extra: Extra): Promise<CallToolResult> {
  const answers = asked.map(async ([name, question]) => {
    const { _meta, ...answer } = await extra.sendRequest(question as ServerRequest, ResultSchema);
    return [name, answer];
  });
  return said(JSON.stringify(Object.fromEntries(await Promise.all(answers)))) as CallToolResult;
}

/** The tools with their schemas as they stand. */
function registerTools(mcp: McpServer, memory: Memory): void {
  const tools = createFeatureTools(memory);
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
  const asking = { name: 'ask', inputSchema: { type: 'object' as const } };
  mcp.server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...tools.map(({ definition }) => definition), asking],
  }));
  mcp.server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const { name, arguments: input = {} } = params;
    if (name === 'ask') return ask(questionsNamed(input.questions), extra);
    const tool = byName.get(name);
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${name}.`);
    try {
      return (await tool.run(input, doingOf(mcp, extra))) as CallToolResult;
    } catch (error) {
      return { content: [{ type: 'text', text: String(error) }], isError: true };
    }
  });
}

function registerOffers(mcp: McpServer, memory: Memory): void {
  const resourceTemplate = new ResourceTemplate(template.uriTemplate, {
    list: undefined,
    complete: { id: (value) => manyValues.filter((each) => each.startsWith(value)) },
  });
  mcp.registerResource(template.name, resourceTemplate, template.about, (uri, { kind, id }) => {
    const found = readFeature(uri, kind, id);
    if (!found) throw new McpError(notFoundV1, 'Resource not found', { uri: uri.href });
    return found;
  });
  mcp.server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => resourcePage(params?.cursor));
  mcp.server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  mcp.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    memory.set(params.uri, 'unsubscribed');
    return {};
  });
  const argsSchema = {
    country: z.string(),
    city: completable(z.string().optional(), (value, context) => completeCity(value ?? '', context)),
  };
  mcp.registerPrompt('all', { title: 'All', description: 'every content', argsSchema }, ({ country }) =>
    everyMessage(country),
  );
}

/** Code of a resource that does not exist, up to 2025-11-25. */
export const notFoundV1 = -32002;
