import {
  completable,
  fromJsonSchema,
  inputRequired,
  McpServer,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
  type ServerContext,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
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
import { questionsNamed } from './questions.ts';
import { createFeatureTools, type Doing, type Memory, said } from './tools.ts';

type Level = Parameters<ServerContext['mcpReq']['log']>[0];

/** Makes the server of the features with SDK version 2. */
export function createServerV2(memory: Memory): McpServer {
  const server = new McpServer(identity, {
    supportedProtocolVersions: ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS],
    capabilities,
    instructions,
    cacheHints: { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } },
  });
  registerTools(server, memory);
  registerQuestions(server);
  registerOffers(server, memory);
  return server;
}

function doingOf(server: McpServer, { mcpReq }: ServerContext): Doing {
  const progressToken = mcpReq._meta?.progressToken;
  const announcements = {
    tools: () => server.server.sendToolListChanged(),
    prompts: () => server.server.sendPromptListChanged(),
    resources: () => server.server.sendResourceListChanged(),
  };
  return {
    meta: { ...mcpReq._meta },
    signal: mcpReq.signal,
    async progress(progress, total, message) {
      if (progressToken === undefined) return;
      const params = { progressToken, progress, total, message };
      await mcpReq.notify({ method: 'notifications/progress', params });
    },
    log: (level, data) => mcpReq.log(level as Level, data, 'features'),
    announce: (list) => announcements[list](),
    updated: (uri) => server.server.sendResourceUpdated({ uri }),
    ping: () => mcpReq.send({ method: 'ping' }),
    sample: (timeout) =>
      mcpReq.send({ method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }, { timeout }),
  };
}

function registerTools(server: McpServer, memory: Memory): void {
  for (const { definition, run } of createFeatureTools(memory)) {
    const { name, inputSchema, outputSchema, ...about } = definition;
    const config = { ...about, inputSchema: fromJsonSchema<Record<string, unknown>>(inputSchema) };
    server.registerTool(
      name,
      outputSchema ? { ...config, outputSchema: fromJsonSchema(outputSchema) } : config,
      (input, context) => run(input, doingOf(server, context)),
    );
  }
}

/** Written once for all eras: the SDK asks a client of the older ones while the call runs. */
function registerQuestions(server: McpServer): void {
  const inputSchema = z.object({ questions: z.array(z.string()) });
  server.registerTool('ask', { inputSchema }, ({ questions }, { mcpReq: { inputResponses } }) => {
    if (inputResponses && questions.every((name) => Object.hasOwn(inputResponses, name)))
      return said(JSON.stringify(inputResponses));
    const asked = questionsNamed(questions).map(([name, { method, params }]) => {
      const { elicitationId: _ofOlderRevisions, ...rest } = params ?? {};
      return [name, params ? { method, params: rest } : { method }];
    });
    return inputRequired({ inputRequests: Object.fromEntries(asked) });
  });
}

function registerOffers(server: McpServer, memory: Memory): void {
  const resourceTemplate = new ResourceTemplate(template.uriTemplate, {
    list: undefined,
    complete: { id: (value) => manyValues.filter((each) => each.startsWith(value)) },
  });
  server.registerResource(template.name, resourceTemplate, template.about, (uri, { kind, id }) => {
    const found = readFeature(uri, kind, id);
    if (!found) throw new ResourceNotFoundError(uri.href);
    return found;
  });
  server.server.setRequestHandler('resources/list', ({ params }) => resourcePage(params?.cursor));
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    memory.set(params.uri, 'unsubscribed');
    return {};
  });
  const argsSchema = z.object({
    country: z.string(),
    city: completable(z.string(), completeCity).optional(),
  });
  server.registerPrompt('all', { title: 'All', description: 'every content', argsSchema }, ({ country }) =>
    everyMessage(country),
  );
}

/** Code of a resource that does not exist, in every revision. */
export const notFoundV2 = ProtocolErrorCode.InvalidParams;
