import type { Message, RequestMessage } from '../checks/messages.ts';

/** The use of one tool, prompt or resource. */
export interface Operation {
  kind: 'tool' | 'prompt' | 'resource';
  /** Name of the tool or prompt, URI of the resource, as the client wrote it. */
  name: string;
  /** What a server's own scope rules are asked about; a notification stands here as it is. */
  request: RequestMessage;
}

type Kind = Operation['kind'];
type Params = Record<string, unknown>;

const methods = { tool: 'tools/call', prompt: 'prompts/get', resource: 'resources/read' } as const;

const kinds = new Map<string, Kind>([
  [methods.tool, 'tool'],
  [methods.prompt, 'prompt'],
  [methods.resource, 'resource'],
]);

/**
 * Writes the plainest request that uses a tool, prompt or resource.
 * @param name name of the tool or prompt, URI of the resource
 */
export function operationOn(kind: Kind, name: string): Operation {
  const params = kind === 'resource' ? { uri: name } : { name };
  return { kind, name, request: { jsonrpc: '2.0', id: 0, method: methods[kind], params } };
}

const named = (kind: Kind, name: unknown): Operation[] =>
  typeof name === 'string' ? [operationOn(kind, name)] : [];

/** What messages use beside those that use one thing plainly: a completion or a subscription gives content away, too. */
const derived = new Map<string, (params: Params) => Operation[]>([
  ['resources/subscribe', ({ uri }) => named('resource', uri)],
  ['completion/complete', ({ ref }) => referenced((ref ?? {}) as Params)],
  [
    'subscriptions/listen',
    ({ notifications }) => {
      const uris = ((notifications ?? {}) as Params).resourceSubscriptions;
      return Array.isArray(uris) ? uris.flatMap((uri) => named('resource', uri)) : [];
    },
  ],
]);

function referenced({ type, name, uri }: Params): Operation[] {
  return type === 'ref/prompt' ? named('prompt', name) : named('resource', uri);
}

/**
 * Reads what a message uses. It is the message itself that counts, never a header that mirrors it (T-132).
 * @returns nothing for messages that use no tool, prompt or resource, and for names that are no strings
 */
export function operationsOf(message: Message): readonly Operation[] {
  const { method = '', params = {} } = message;
  const kind = kinds.get(method);
  if (kind === undefined) return derived.get(method)?.(params) ?? [];
  const name = kind === 'resource' ? params.uri : params.name;
  return typeof name === 'string' ? [{ kind, name, request: message as RequestMessage }] : [];
}
