import { isRecord, type JsonRpcError, type Message, type RequestMessage } from '../../mcp/protocol.ts';
import { finalName, finalUri, type Split, splitName, splitUri } from './final-names.ts';

type Fields = Record<string, unknown>;

/** Position of a list in its result, and the capability that announces the list. */
export interface ListKind {
  member: string;
  capability: string;
  /** Identifying member of the entries. */
  name: string;
  /** The type of its entries in the schema of MCP. */
  type: 'Tool' | 'Prompt' | 'Resource' | 'ResourceTemplate';
}

/** The lists that are joined, by their methods. */
export const listKinds: ReadonlyMap<string, ListKind> = new Map([
  ['tools/list', { member: 'tools', capability: 'tools', name: 'name', type: 'Tool' }],
  ['prompts/list', { member: 'prompts', capability: 'prompts', name: 'name', type: 'Prompt' }],
  ['resources/list', { member: 'resources', capability: 'resources', name: 'uri', type: 'Resource' }],
  [
    'resources/templates/list',
    { member: 'resourceTemplates', capability: 'resources', name: 'uriTemplate', type: 'ResourceTemplate' },
  ],
]);

/** Members of the `_meta` of a tool that are URIs of pages, which some hosts show. */
const pageMembers = ['ui/resourceUri', 'openai/outputTemplate'];

/**
 * Returns a request with the backend's own names.
 * @returns undefined if the name or URI belongs to no backend
 */
export function ownRequest(request: RequestMessage): { key: string; request: RequestMessage } | undefined {
  const { method, params = {} } = request;
  const named = (found: Split | undefined, renamed: (own: string) => Fields) =>
    found && { key: found.key, request: { ...request, params: { ...params, ...renamed(found.own) } } };
  const { name, uri, ref } = params;
  switch (method) {
    case 'tools/call':
    case 'prompts/get':
      return named(typeof name === 'string' ? splitName(name) : undefined, (own) => ({ name: own }));
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return named(typeof uri === 'string' ? splitUri(uri) : undefined, (own) => ({ uri: own }));
    case 'completion/complete':
      if (!isRecord(ref)) return undefined;
      if (typeof ref.name === 'string')
        return named(splitName(ref.name), (own) => ({ ref: { ...ref, name: own } }));
      return named(typeof ref.uri === 'string' ? splitUri(ref.uri) : undefined, (own) => ({
        ref: { ...ref, uri: own },
      }));
    default:
      return undefined;
  }
}

/** Returns an entry of a list with its final name; undefined if it has no name. */
export function finalEntry(key: string, { name }: ListKind, entry: unknown): Fields | undefined {
  if (!isRecord(entry)) return undefined;
  const own = entry[name];
  if (typeof own !== 'string') return undefined;
  const final = name === 'name' ? finalName(key, own) : finalUri(key, own);
  return { ...withMeta(key, entry), [name]: final };
}

/** Returns a result with the final URIs of resources, at any depth of its content, and of the pages in its `_meta`. */
export function finalResult(key: string, method: string, result: Fields): Fields {
  const own = withMeta(key, result);
  if (method === 'tools/call') return withBlocks(key, own);
  if (method === 'prompts/get') return withMessages(key, own);
  if (method !== 'resources/read' || !Array.isArray(own.contents)) return own;
  return { ...own, contents: own.contents.map((each) => withUri(key, each)) };
}

/** Returns an error with the final URI of its resource. */
export function finalError(key: string, error: JsonRpcError): JsonRpcError {
  const data = withUri(key, error.data);
  return data === error.data ? error : { ...error, data };
}

/** Returns a request or notification of a backend with final names. */
export function finalSaying(key: string, said: Message): Message {
  const { method, params = {} } = said;
  if (method === 'notifications/resources/updated')
    return { ...said, params: withUri(key, params) as Fields };
  if (method === 'sampling/createMessage')
    return { ...said, params: withTools(key, withMessages(key, withMeta(key, params))) };
  if (method === 'elicitation/create') return { ...said, params: withMeta(key, params) };
  if (method !== 'notifications/message') return said;
  const logger = typeof params.logger === 'string' ? `${key}/${params.logger}` : key;
  return { ...said, params: { ...params, logger } };
}

/** Replaces the URIs of pages in `_meta`. Returns the same object if there are none. */
function withMeta(key: string, holder: Fields): Fields {
  const { _meta: meta } = holder;
  return isRecord(meta) ? { ...holder, _meta: finalMeta(key, meta) } : holder;
}

function withTools(key: string, holder: Fields): Fields {
  if (!Array.isArray(holder.tools)) return holder;
  const tools = holder.tools.map((each: unknown) => (isRecord(each) ? withMeta(key, each) : each));
  return { ...holder, tools };
}

function finalMeta(key: string, meta: Fields): Fields {
  const renamed = pageMembers.flatMap((name) =>
    typeof meta[name] === 'string' ? [[name, finalUri(key, meta[name])] as const] : [],
  );
  const { ui } = meta;
  const page =
    isRecord(ui) && typeof ui.resourceUri === 'string'
      ? { ui: { ...ui, resourceUri: finalUri(key, ui.resourceUri) } }
      : {};
  return { ...meta, ...Object.fromEntries(renamed), ...page };
}

function withMessages(key: string, holder: Fields): Fields {
  if (!Array.isArray(holder.messages)) return holder;
  const messages = holder.messages.map((each: unknown) =>
    isRecord(each) ? withBlocks(key, withMeta(key, each)) : each,
  );
  return { ...holder, messages };
}

/** Results with content, in one block or many. */
function withBlocks(key: string, holder: Fields): Fields {
  const { content } = holder;
  if (content === undefined) return holder;
  const renamed = Array.isArray(content)
    ? content.map((block) => finalBlock(key, block))
    : finalBlock(key, content);
  return { ...holder, content: renamed };
}

function finalBlock(key: string, block: unknown): unknown {
  if (!isRecord(block)) return block;
  if (block.type === 'resource_link') return withUri(key, block);
  const own = withMeta(key, block);
  if (own.type === 'resource') return { ...own, resource: withUri(key, own.resource) };
  return own.type === 'tool_result' ? withBlocks(key, own) : own;
}

function withUri(key: string, holder: unknown): unknown {
  if (!isRecord(holder)) return holder;
  const own = withMeta(key, holder);
  return typeof own.uri === 'string' ? { ...own, uri: finalUri(key, own.uri) } : own;
}
