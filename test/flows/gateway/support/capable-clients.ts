import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Decision } from '../../../support/person.ts';
import { connectSdkV1 } from '../../clients/support/sdk-v1.ts';
import { connectSdkV2 } from '../../clients/support/sdk-v2.ts';

const info = { name: 'capable', version: '1' };
const capabilities = { elicitation: {}, sampling: {}, roots: {} };

/** The clients that the tests let ask and be asked, by what they are. */
export const capableClients = ['SDK v1', 'SDK v2, older', 'SDK v2, 2026-07-28'] as const;

/** A client of one of the SDKs that is logged in, and answers whatever it is asked. */
export interface CapableClient {
  /** Calls a tool, and gives its text as JSON. */
  call(
    name: string,
    args?: Record<string, string>,
    onprogress?: (progress: number) => void,
  ): Promise<unknown>;
  /** What it was asked, and heard: methods. */
  heard: string[];
  listTools(): Promise<string[]>;
  serverName(): string | undefined;
  /** Hears of changes of a resource and of the list of tools from now on. */
  follow(uri: string): Promise<void>;
  setLevel(level: 'info'): Promise<void>;
  accessToken: string;
  close(): Promise<void>;
}

function said(result: unknown): unknown {
  const { content, isError } = result as { content: { text: string }[]; isError?: boolean };
  const [{ text = 'null' } = {}] = content;
  if (isError) throw new Error(text);
  return JSON.parse(text);
}

/** Logs a client in. @param who stands in its answers */
export async function connectCapable(
  kind: (typeof capableClients)[number],
  mcpUrl: string,
  decision: Decision,
  who = 'Ada',
): Promise<CapableClient> {
  const heard: string[] = [];
  const elicited = (message: string) => {
    heard.push('elicitation/create');
    const name = message.startsWith('Last') ? `${who} the last` : who;
    return { action: 'accept' as const, content: { name } };
  };
  const sampled = () => {
    heard.push('sampling/createMessage');
    return { role: 'assistant' as const, model: 'm', content: { type: 'text' as const, text: who } };
  };
  const rooted = () => {
    heard.push('roots/list');
    return { roots: [{ uri: `file:///${who}` }] };
  };
  if (kind === 'SDK v1') {
    const { client: first, provider } = await connectSdkV1(mcpUrl, decision);
    await first.close();
    const client = new ClientV1(info, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => elicited(params.message));
    client.setRequestHandler(CreateMessageRequestSchema, sampled);
    client.setRequestHandler(ListRootsRequestSchema, rooted);
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push('tools'));
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void heard.push(params.uri),
    );
    client.setNotificationHandler(
      LoggingMessageNotificationSchema,
      ({ params }) => void heard.push(String(params.data)),
    );
    await client.connect(new TransportV1(new URL(mcpUrl), { authProvider: provider }));
    return {
      heard,
      call: async (name, args = {}, onprogress) =>
        said(
          await client.callTool(
            { name, arguments: args },
            undefined,
            onprogress && { onprogress: ({ progress }) => onprogress(progress) },
          ),
        ),
      listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
      serverName: () => client.getServerVersion()?.name,
      follow: async (uri) => void (await client.subscribeResource({ uri })),
      setLevel: async (level) => void (await client.setLoggingLevel(level)),
      accessToken: (provider.tokens() as { access_token: string }).access_token,
      close: () => client.close(),
    };
  }
  const isModern = kind === 'SDK v2, 2026-07-28';
  const mode: VersionNegotiationMode = isModern ? { pin: '2026-07-28' } : 'legacy';
  const { client: first, provider } = await connectSdkV2(mcpUrl, mode, decision);
  await first.close();
  const client = new ClientV2(info, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler('elicitation/create', ({ params }) => elicited(params.message));
  client.setRequestHandler('sampling/createMessage', sampled);
  client.setRequestHandler('roots/list', rooted);
  client.setNotificationHandler('notifications/tools/list_changed', () => void heard.push('tools'));
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void heard.push(params.uri),
  );
  client.setNotificationHandler(
    'notifications/message',
    ({ params }) => void heard.push(String(params.data)),
  );
  await client.connect(new TransportV2(new URL(mcpUrl), { authProvider: provider }));
  let level: string | undefined;
  return {
    heard,
    call: async (name, args = {}, onprogress) => {
      const meta = level === undefined ? {} : { _meta: { 'io.modelcontextprotocol/logLevel': level } };
      const options = onprogress && {
        onprogress: ({ progress }: { progress: number }) => onprogress(progress),
      };
      return said(await client.callTool({ name, arguments: args, ...meta }, options));
    },
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    serverName: () => client.getServerVersion()?.name,
    async follow(uri) {
      if (isModern) await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] });
      else await client.subscribeResource({ uri });
    },
    async setLevel(wanted) {
      if (isModern) level = wanted;
      else await client.setLoggingLevel(wanted);
    },
    accessToken: (provider.tokens() as { access_token: string }).access_token,
    close: () => client.close(),
  };
}
