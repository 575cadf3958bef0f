import type { Message, RequestMessage } from '../../mcp/checks/messages.ts';
import { isObject } from '../../mcp/conversations/client-abilities.ts';
import { finalName, finalUri, type Split, splitName, splitUri } from './final-names.ts';

type Fields = Record<string, unknown>;

/** Where a list stands in its result, and the capability that says that there is one. */
export interface ListKind {
  member: string;
  capability: string;
  /** What tells its entries apart. */
  name: string;
}

/** The lists of several backends that are one. */
export const listKinds: ReadonlyMap<string, ListKind> = new Map([
  ['tools/list', { member: 'tools', capability: 'tools', name: 'name' }],
  ['prompts/list', { member: 'prompts', capability: 'prompts', name: 'name' }],
  ['resources/list', { member: 'resources', capability: 'resources', name: 'uri' }],
  ['resources/templates/list', { member: 'resourceTemplates', capability: 'resources', name: 'uriTemplate' }],
]);

/** Members of the `_meta` of a tool that are URIs of resources: its pages in hosts that show them. */
const pageMembers = ['ui/resourceUri', 'openai/outputTemplate'];

/**
 * Gives a request as the backend it is for knows it.
 * @returns whose it is; undefined where the name or URI is nobody's
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
      if (!isObject(ref)) return undefined;
      if (typeof ref.name === 'string')
        return named(splitName(ref.name), (own) => ({ ref: { ...ref, name: own } }));
      return named(typeof ref.uri === 'string' ? splitUri(ref.uri) : undefined, (own) => ({
        ref: { ...ref, uri: own },
      }));
    default:
      return undefined;
  }
}

/** Gives an entry of a list as clients know it; undefined where it has no name. */
export function finalEntry(key: string, { name }: ListKind, entry: unknown): Fields | undefined {
  if (!isObject(entry)) return undefined;
  const own = entry[name];
  if (typeof own !== 'string') return undefined;
  const final = name === 'name' ? finalName(key, own) : finalUri(key, own);
  const { _meta: meta } = entry;
  return { ...entry, [name]: final, ...(isObject(meta) && { _meta: finalMeta(key, meta) }) };
}

/** Gives the result of a request as clients know it: the URIs of resources in it, at any depth of its content. */
export function finalResult(key: string, method: string, result: Fields): Fields {
  if (method === 'tools/call') return withBlocks(key, result);
  if (method === 'prompts/get') return withMessages(key, result);
  if (method !== 'resources/read' || !Array.isArray(result.contents)) return result;
  return { ...result, contents: result.contents.map((each) => withUri(key, each)) };
}

/** Gives what a backend asks its client, or tells it, as clients know it. */
export function finalSaying(key: string, said: Message): Message {
  const { method, params = {} } = said;
  if (method === 'notifications/resources/updated')
    return { ...said, params: withUri(key, params) as Fields };
  if (method === 'sampling/createMessage') return { ...said, params: withMessages(key, params) };
  if (method !== 'notifications/message') return said;
  const logger = typeof params.logger === 'string' ? `${key}/${params.logger}` : key;
  return { ...said, params: { ...params, logger } };
}

function finalMeta(key: string, meta: Fields): Fields {
  const renamed = pageMembers.flatMap((name) =>
    typeof meta[name] === 'string' ? [[name, finalUri(key, meta[name])] as const] : [],
  );
  const { ui } = meta;
  const page =
    isObject(ui) && typeof ui.resourceUri === 'string'
      ? { ui: { ...ui, resourceUri: finalUri(key, ui.resourceUri) } }
      : {};
  return { ...meta, ...Object.fromEntries(renamed), ...page };
}

function withMessages(key: string, holder: Fields): Fields {
  if (!Array.isArray(holder.messages)) return holder;
  const messages = holder.messages.map((each: unknown) => (isObject(each) ? withBlocks(key, each) : each));
  return { ...holder, messages };
}

/** What holds content, one block or many. */
function withBlocks(key: string, holder: Fields): Fields {
  const { content } = holder;
  if (content === undefined) return holder;
  const renamed = Array.isArray(content)
    ? content.map((block) => finalBlock(key, block))
    : finalBlock(key, content);
  return { ...holder, content: renamed };
}

function finalBlock(key: string, block: unknown): unknown {
  if (!isObject(block)) return block;
  if (block.type === 'resource_link') return withUri(key, block);
  if (block.type === 'resource') return { ...block, resource: withUri(key, block.resource) };
  return block.type === 'tool_result' ? withBlocks(key, block) : block;
}

function withUri(key: string, holder: unknown): unknown {
  return isObject(holder) && typeof holder.uri === 'string'
    ? { ...holder, uri: finalUri(key, holder.uri) }
    : holder;
}
