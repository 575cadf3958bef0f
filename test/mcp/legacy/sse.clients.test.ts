import { Client, SSEClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SSEClientTransportV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createConformanceServer } from '../../support/conformance-server/server.ts';
import { createConformanceServerV1 } from '../../support/conformance-server-v1/server.ts';
import { startSseEndpoint } from '../support/sse-endpoint.ts';

/** What both versions of the SDK's client have in common here. */
interface AnyClient {
  callTool(
    params: { name: string; arguments?: Record<string, unknown> },
    ...more: never[]
  ): Promise<Record<string, unknown>>;
  logs: unknown[];
  progress(name: string): Promise<{ steps: number[]; result: unknown }>;
  plain: Pick<
    ClientV1,
    | 'ping'
    | 'listTools'
    | 'listPrompts'
    | 'getPrompt'
    | 'listResources'
    | 'readResource'
    | 'subscribeResource'
    | 'unsubscribeResource'
    | 'setLoggingLevel'
    | 'complete'
    | 'close'
  >;
}

const capabilities = { sampling: {}, elicitation: { form: {} }, roots: {} };
const sampled = {
  model: 'test',
  role: 'assistant' as const,
  content: { type: 'text' as const, text: 'Paris' },
};
const elicited = { action: 'accept' as const, content: { username: 'ann', email: 'ann@example.com' } };
const requestInit = { headers: { Authorization: 'Bearer ann' } };

async function connectV1(url: URL): Promise<AnyClient> {
  const client = new ClientV1({ name: 'v1', version: '1.0.0' }, { capabilities });
  const logs: unknown[] = [];
  client.setRequestHandler(CreateMessageRequestSchema, () => sampled);
  client.setRequestHandler(ElicitRequestSchema, () => elicited);
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [] }));
  client.setNotificationHandler(
    LoggingMessageNotificationSchema,
    ({ params }) => void logs.push(params.data),
  );
  await client.connect(new SSEClientTransportV1(url, { requestInit }));
  return {
    callTool: (params) => client.callTool(params),
    logs,
    async progress(name) {
      const steps: number[] = [];
      const result = await client.callTool({ name }, undefined, {
        onprogress: ({ progress }) => steps.push(progress),
      });
      return { steps, result };
    },
    plain: client,
  };
}

async function connectV2(url: URL): Promise<AnyClient> {
  const client = new Client({ name: 'v2', version: '1.0.0' }, { capabilities });
  const logs: unknown[] = [];
  client.setRequestHandler('sampling/createMessage', () => sampled);
  client.setRequestHandler('elicitation/create', () => elicited);
  client.setRequestHandler('roots/list', () => ({ roots: [] }));
  client.setNotificationHandler('notifications/message', ({ params }) => void logs.push(params.data));
  await client.connect(new SSEClientTransport(url, { requestInit }));
  return {
    callTool: (params) => client.callTool(params),
    logs,
    async progress(name) {
      const steps: number[] = [];
      const result = await client.callTool({ name }, { onprogress: ({ progress }) => steps.push(progress) });
      return { steps, result };
    },
    plain: client as unknown as ClientV1,
  };
}

const clients = { 'version 1': connectV1, 'version 2': connectV2 };
const servers = {
  'version 1': createConformanceServerV1,
  'version 2': () => createConformanceServer({ era: 'legacy' }),
};
const pairs = Object.entries(clients).flatMap(([client, connect]) =>
  Object.entries(servers).map(([server, factory]) => ({ client, server, connect, factory })),
);

describe.each(pairs)(
  "the SDK's SSE client of $client with a server of $server, over HTTP+SSE (B2-01, B2-02, B2-07)",
  ({ connect, factory }) => {
    const start = async (): Promise<AnyClient> => {
      const client = await connect((await startSseEndpoint(factory)).url);
      onTestFinished(() => client.plain.close());
      return client;
    };

    it('uses tools, prompts, resources, completion, ping and levels of the log', async () => {
      const { plain, callTool } = await start();
      expect(await plain.ping()).toEqual({});
      expect((await plain.listTools()).tools.map(({ name }) => name)).toContain('test_simple_text');
      expect(await callTool({ name: 'test_simple_text' })).toMatchObject({
        content: [{ text: 'This is a simple text response for testing.' }],
      });
      expect(await callTool({ name: 'test_error_handling' })).toMatchObject({ isError: true });
      expect((await plain.listPrompts()).prompts.length).toBeGreaterThanOrEqual(4);
      const words = { arg1: 'hello', arg2: 'world' };
      const prompt = await plain.getPrompt({ name: 'test_prompt_with_arguments', arguments: words });
      expect(prompt.messages[0]?.content).toMatchObject({
        text: "Prompt with arguments: arg1='hello', arg2='world'",
      });
      expect((await plain.listResources()).resources).toHaveLength(3);
      expect(await plain.readResource({ uri: 'test://template/123/data' })).toMatchObject({
        contents: [{ text: expect.stringContaining('Data for ID: 123') }],
      });
      expect(await plain.subscribeResource({ uri: 'test://watched-resource' })).toMatchObject({});
      expect(await plain.unsubscribeResource({ uri: 'test://watched-resource' })).toMatchObject({});
      const ref = { type: 'ref/prompt' as const, name: 'test_prompt_with_arguments' };
      const { completion } = await plain.complete({ ref, argument: { name: 'arg1', value: 'par' } });
      expect(completion.values).toEqual(['paris', 'park', 'party']);
      expect(await plain.setLoggingLevel('info')).toMatchObject({});
    });

    it('hears of progress and the log while a call runs', async () => {
      const { progress, callTool, logs } = await start();
      const { steps, result } = await progress('test_tool_with_progress');
      expect(steps).toEqual([0, 50, 100]);
      expect(result).toMatchObject({ content: [{ text: 'done' }] });
      await callTool({ name: 'test_tool_with_logging' });
      expect(logs).toEqual(['Tool execution started', 'Tool processing data', 'Tool execution completed']);
    });

    it('answers what the server asks of it: sampling and elicitation', async () => {
      const { callTool } = await start();
      expect(
        await callTool({ name: 'test_sampling', arguments: { prompt: 'Capital of France?' } }),
      ).toMatchObject({
        content: [{ text: expect.stringContaining('Paris') }],
      });
      expect(
        await callTool({ name: 'test_elicitation', arguments: { message: 'Who are you?' } }),
      ).toMatchObject({
        content: [{ text: `User response: action=accept, content=${JSON.stringify(elicited.content)}` }],
      });
    });
  },
);
