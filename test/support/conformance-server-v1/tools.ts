import { setTimeout as pause } from 'node:timers/promises';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  CreateMessageResultSchema,
  type ElicitRequestFormParams,
  ElicitResultSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type ServerNotification,
  type ServerRequest,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import {
  audio,
  defaultsForm,
  embedded,
  enumerationsForm,
  image,
  mixed,
  schema2020,
  userForm,
} from '../conformance-server/samples.ts';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

interface ConformanceTool {
  description: string;
  inputSchema: Tool['inputSchema'];
  call(input: Record<string, unknown>, extra: Extra): CallToolResult | Promise<CallToolResult>;
}

const nothing: Tool['inputSchema'] = { type: 'object' };

const text = (said: string): CallToolResult => ({ content: [{ type: 'text', text: said }] });

const textOf = (name: string): Tool['inputSchema'] => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
});

/** A tool without arguments. */
const plain = (description: string, call: ConformanceTool['call']): ConformanceTool => ({
  description,
  inputSchema: nothing,
  call,
});

const giving = (...content: CallToolResult['content']): ConformanceTool =>
  plain('gives content of a kind', () => ({ content }));

async function elicit(extra: Extra, message: string, requestedSchema: typeof userForm): Promise<string> {
  const params: ElicitRequestFormParams = {
    mode: 'form',
    message,
    requestedSchema: requestedSchema as ElicitRequestFormParams['requestedSchema'],
  };
  const { action, content } = await extra.sendRequest(
    { method: 'elicitation/create', params },
    ElicitResultSchema,
  );
  return `action=${action}, content=${JSON.stringify(content ?? {})}`;
}

const filledIn = (form: typeof userForm): ConformanceTool =>
  plain('asks the person with a form', async (_input, extra) =>
    text(`Elicitation completed: ${await elicit(extra, 'Please fill in', form)}`),
  );

const tools: Record<string, ConformanceTool> = {
  test_simple_text: giving({ type: 'text', text: 'This is a simple text response for testing.' }),
  test_image_content: giving(image),
  test_audio_content: giving(audio),
  test_embedded_resource: giving(embedded),
  test_multiple_content_types: giving({ type: 'text', text: 'Multiple content types test:' }, image, mixed),
  test_error_handling: plain('fails', () => {
    throw new Error('This tool intentionally returns an error for testing');
  }),
  test_tool_with_logging: plain('logs', async (_input, extra) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
      await pause(50);
    }
    return text('logged');
  }),
  test_tool_with_progress: plain('reports progress', async (_input, extra) => {
    const progressToken = extra._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await extra.sendNotification({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100 },
        });
      await pause(50);
    }
    return text('done');
  }),
  test_reconnection: plain('ends its stream', async (_input, extra) => {
    extra.closeSSEStream?.();
    await pause(100);
    return text('The client came back.');
  }),
  test_sampling: {
    description: 'asks the model',
    inputSchema: textOf('prompt'),
    async call({ prompt }, extra) {
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: String(prompt) } }];
      const params = { messages, maxTokens: 100 };
      const { content } = await extra.sendRequest(
        { method: 'sampling/createMessage', params },
        CreateMessageResultSchema,
      );
      return text(`LLM response: ${JSON.stringify(content)}`);
    },
  },
  test_elicitation: {
    description: 'asks the person',
    inputSchema: textOf('message'),
    call: async ({ message }, extra) =>
      text(`User response: ${await elicit(extra, String(message), userForm)}`),
  },
  test_elicitation_sep1034_defaults: filledIn(defaultsForm),
  test_elicitation_sep1330_enums: filledIn(enumerationsForm),
  json_schema_2020_12_tool: {
    description: 'Tool with JSON Schema 2020-12 features',
    inputSchema: schema2020 as Tool['inputSchema'],
    call: () => text('ok'),
  },
};

/** Registers the tools of the suite that revisions up to 2025-11-25 have, with their schemas as they stand. */
export function registerTools({ server }: McpServer): void {
  server.registerCapabilities({ tools: {} });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(tools).map(([name, { description, inputSchema }]) => ({
      name,
      description,
      inputSchema,
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = Object.hasOwn(tools, params.name) ? tools[params.name] : undefined;
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name}.`);
    try {
      return await tool.call(params.arguments ?? {}, extra);
    } catch (error) {
      return { ...text(error instanceof Error ? error.message : String(error)), isError: true };
    }
  });
}
