import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { methodsOf, type Peer, type PeerOptions, type Result } from './peer.ts';
import { Person } from './person.ts';

const schemas = {
  'roots/list': ListRootsRequestSchema,
  'sampling/createMessage': CreateMessageRequestSchema,
  'elicitation/create': ElicitRequestSchema,
};

/** Connects a client of SDK version 1, which always offers its latest revision unless it is made to say another. */
export async function connectV1(
  transport: Transport,
  { revision, capabilities }: PeerOptions,
): Promise<Peer> {
  const client = new Client({ name: 'peer', version: '1' }, { capabilities });
  const person = new Person();
  const heard: Peer['heard'] = [];
  const complaints: string[] = [];
  for (const method of methodsOf(capabilities))
    client.setRequestHandler(schemas[method], async ({ params }, { signal }) => {
      const answer = await person.respond({ method, params: { ...params }, signal });
      return answer as never;
    });
  client.fallbackNotificationHandler = async (notification) => void heard.push(notification);
  client.onerror = (error) => complaints.push(String(error));
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const isFirst = 'method' in message && message.method === 'initialize';
    return send(
      isFirst ? { ...message, params: { ...message.params, protocolVersion: revision } } : message,
      options,
    );
  };
  let negotiated: string | undefined;
  const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    negotiated = version;
    setProtocolVersion?.(version);
  };
  await client.connect(transport);
  const plain = (result: Promise<object>): Promise<Result> => result as Promise<Result>;
  return {
    person,
    heard,
    complaints,
    revision: negotiated,
    server: {
      version: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    },
    call: (name, input = {}, options = {}, meta = {}) =>
      plain(client.callTool({ name, arguments: input, _meta: { ...meta } }, CallToolResultSchema, options)),
    listTools: () => plain(client.listTools()),
    listTemplates: () => plain(client.listResourceTemplates()),
    listPrompts: () => plain(client.listPrompts()),
    read: (uri) => plain(client.readResource({ uri })),
    getPrompt: (name, args = {}) => plain(client.getPrompt({ name, arguments: args })),
    complete: (ref, argument, args) =>
      plain(client.complete({ ref: ref as never, argument, ...(args && { context: { arguments: args } }) })),
    ping: () => plain(client.ping()),
    ask: (method, params = {}) => plain(client.request({ method: method as 'ping', params }, ResultSchema)),
    async listen(uri) {
      await client.subscribeResource({ uri });
      return async () => void (await client.unsubscribeResource({ uri }));
    },
    close: () => client.close(),
  };
}
