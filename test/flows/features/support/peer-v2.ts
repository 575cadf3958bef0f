import { Client, type ClientOptions, type Transport } from '@modelcontextprotocol/client';
import { methodsOf, type Peer, type PeerOptions, type Result } from './peer.ts';
import { Person } from './person.ts';

const modernRevision = '2026-07-28';

/** Connects a client of SDK version 2. */
export async function connectV2(
  transport: Transport,
  { revision, capabilities }: PeerOptions,
): Promise<Peer> {
  const isModern = revision === modernRevision;
  const era: ClientOptions = isModern
    ? { versionNegotiation: { mode: { pin: revision } } }
    : { supportedProtocolVersions: [revision] };
  const client = new Client({ name: 'peer', version: '2' }, { capabilities, ...era });
  const person = new Person();
  const heard: Peer['heard'] = [];
  const complaints: string[] = [];
  for (const method of methodsOf(capabilities))
    client.setRequestHandler(method, async ({ params }, { mcpReq: { signal } }) => {
      const answer = await person.respond({ method, params: { ...params }, signal });
      return answer as never;
    });
  client.fallbackNotificationHandler = async (notification) => void heard.push(notification);
  client.onerror = (error) => complaints.push(String(error));
  await client.connect(transport);
  const plain = (result: Promise<object>): Promise<Result> => result as Promise<Result>;
  return {
    person,
    heard,
    complaints,
    revision: client.getNegotiatedProtocolVersion(),
    server: {
      version: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    },
    call: (name, input = {}, options = {}, meta = {}) =>
      plain(client.callTool({ name, arguments: input, _meta: { ...meta } }, options)),
    listTools: () => plain(client.listTools()),
    listTemplates: () => plain(client.listResourceTemplates()),
    listPrompts: () => plain(client.listPrompts()),
    read: (uri) => plain(client.readResource({ uri })),
    getPrompt: (name, args = {}) => plain(client.getPrompt({ name, arguments: args })),
    complete: (ref, argument, args) =>
      plain(client.complete({ ref: ref as never, argument, ...(args && { context: { arguments: args } }) })),
    ping: () => plain(client.ping()),
    ask: (method, params = {}) => plain(client.request({ method: method as 'ping', params })),
    async listen(uri) {
      if (isModern) {
        const subscription = await client.listen({
          resourceSubscriptions: [uri],
          toolsListChanged: true,
          promptsListChanged: true,
          resourcesListChanged: true,
        });
        return () => subscription.close();
      }
      await client.subscribeResource({ uri });
      return async () => void (await client.unsubscribeResource({ uri }));
    },
    close: () => client.close(),
  };
}
