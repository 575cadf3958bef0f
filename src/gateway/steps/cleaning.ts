import { SERVER_INFO_META_KEY } from '@modelcontextprotocol/server';
import { missingInputOf, ownData } from '../../mcp/building-blocks.ts';
import { isRecord, type JsonRpcError, type Message } from '../../mcp/protocol.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { loggable } from '../../observability/loggable.ts';
import type { Logger } from '../../observability/logger.ts';
import {
  cleanDefinition,
  cleanServerInfo,
  cleanText,
  cleanTexts,
  type DefinitionFault,
  hasUnseen,
  isOpenable,
  isUnclean,
  withoutFaults,
} from './clean-definition.ts';
import {
  type Answer,
  askedFor,
  type Entry,
  introductions,
  lists,
  mapInTurns,
  notFound,
  type Step,
  withEntries,
} from './step.ts';

/** Maximum number of a server's entries that the log names. */
const maxTold = 100;

const whyLeftOut: Record<DefinitionFault, string> = {
  unseen_characters: 'a backend lists a name or a value with characters nobody sees; what has it is left out',
  script_url: 'a backend lists a script as a URL; what has it is left out',
  too_large: 'a backend lists a definition that is too large to be read; it is left out',
};

/**
 * Creates the step that removes invisible text from the names and descriptions of a server, its tools, prompts and
 * resources, its errors, completions and requests to a client (T-160, T-211). A definition that cannot be cleaned is
 * not listed (see {@link cleanDefinition}), and a name with such characters does not exist. The content of results
 * passes unchanged: blocks of a tool, messages of a prompt, contents of a resource.
 * @param name name of the server
 */
export function createCleaning(name: string, logger: Pick<Logger, 'warn'>): Step {
  const told = new Set<string>();
  const tell = (kind: string, entry: string, why: string): void => {
    const key = JSON.stringify([kind, entry, why]);
    if (told.size >= maxTold || told.has(key)) return;
    told.add(key);
    const shown = loggable(entry.replace(/\p{C}/gu, '\u{fffd}'));
    logger.warn({ backend: name, kind, name: shown }, why);
  };
  const tellRemoved = (kind: string, entry: string): void =>
    tell(kind, entry, 'a backend names icons or links that a host must not open; they are taken out');

  /** Returns undefined for a definition that cannot be cleaned. */
  const cleanOne: CleanOne = (entry, kind, member) => {
    const { definition, removed = 0, fault } = cleanDefinition(entry);
    const shown = typeof entry[member] === 'string' ? entry[member] : '';
    if (fault) tell(kind, shown, whyLeftOut[fault]);
    else if (removed > 0) tellRemoved(kind, shown);
    return definition;
  };

  const cleanInfo = (info: Entry): Entry => {
    const { info: cleaned, removed } = cleanServerInfo(info);
    if (removed > 0) tellRemoved('server', '');
    return cleaned;
  };

  const cleanData = (data: Entry): Entry => {
    const cleaned = withoutFaults(data);
    if (cleaned !== data)
      tell(
        'server',
        '',
        'a backend has hidden text or scripts in its capabilities or _meta; they are left out',
      );
    return cleaned;
  };

  const cleanCompletion = (result: Entry): Entry => {
    const { completion } = result;
    if (!isRecord(completion) || !Array.isArray(completion.values)) return result;
    const values = completion.values.filter((value) => typeof value === 'string' && !hasUnseen(value));
    if (values.length === completion.values.length) return result;
    tell('completion', '', 'a backend completes with characters nobody sees; those values are left out');
    return { ...result, completion: { ...completion, values } };
  };

  /** Cleans the members of a result that are not its content. */
  const cleanFrame = (result: Entry): Entry => {
    const { _meta: meta } = result;
    if (!isRecord(meta)) return result;
    const { [SERVER_INFO_META_KEY]: info } = meta;
    const cleaned = isRecord(info) ? cleanInfo(info) : info;
    return cleaned === info ? result : { ...result, _meta: { ...meta, [SERVER_INFO_META_KEY]: cleaned } };
  };

  /**
   * Cleans a server's description of itself: texts are cleaned, and a capability with invisible content is left out.
   */
  const cleanIntroduction = (result: Entry): Entry => {
    const { serverInfo, capabilities, instructions, _meta: meta } = result;
    return {
      ...result,
      ...(isRecord(serverInfo) && { serverInfo: cleanInfo(serverInfo) }),
      ...(isRecord(capabilities) && { capabilities: cleanData(capabilities) }),
      ...(typeof instructions === 'string' && { instructions: cleanText(instructions) }),
      ...(isRecord(meta) && { _meta: cleanData(meta) }),
    };
  };

  const cleanResult = async (method: string, result: Entry): Promise<Answer> => {
    const framed = cleanFrame(result);
    if (framed.resultType === 'input_required') return cleanInputRequests(framed);
    if (introductions.has(method)) return { result: cleanIntroduction(framed) };
    if (method === 'completion/complete') return { result: cleanCompletion(framed) };
    if (method === 'prompts/get') return { result: cleanPrompt(framed, cleanOne) };
    if (!lists.has(method)) return { result: cleanLinks(framed, cleanOne) };
    const listed = await withEntries(method, { result: framed }, async (entries, { kind, name: member }) => {
      const cleaned = await mapInTurns(entries, (entry) => cleanOne(entry, kind, member));
      return cleaned.filter((entry) => entry !== undefined);
    });
    return listed.result && isRecord(listed.result._meta)
      ? { result: { ...listed.result, _meta: cleanData(listed.result._meta) } }
      : listed;
  };

  return {
    cares: () => true,
    async answer(request, passing, next) {
      const asked = askedFor(request);
      if (asked && isUnclean(asked.name)) return notFound(asked.kind, asked.name, passing);
      const answer = await next(request);
      return answer.error ? { error: cleanError(answer.error) } : cleanResult(request.method, answer.result);
    },
    relay: (said) => relay(said),
  };
}

/** Returns a clean definition of a kind, identified by a member of it; undefined if it cannot be cleaned. */
type CleanOne = (entry: Entry, kind: string, member: string) => Entry | undefined;

function cleanPrompt(result: Entry, cleanOne: CleanOne): Entry {
  const { description, messages } = result;
  return {
    ...result,
    ...(typeof description === 'string' && { description: cleanText(description) }),
    ...(Array.isArray(messages) && {
      messages: messages.flatMap((message) => withCleanLink(message, cleanOne)),
    }),
  };
}

/** Removes a message of a prompt that is a link which cannot be cleaned. */
function withCleanLink(message: unknown, cleanOne: CleanOne): unknown[] {
  if (!isRecord(message) || !isLink(message.content)) return [message];
  const content = cleanOne(message.content, 'link', 'uri');
  return content ? [{ ...message, content }] : [];
}

/** Removes links to resources from content if they cannot be cleaned: a link is a definition of its resource. */
function cleanLinks(result: Entry, cleanOne: CleanOne): Entry {
  const { content } = result;
  if (!Array.isArray(content) || !content.some(isLink)) return result;
  const cleaned = content.flatMap((block: unknown) =>
    isLink(block) ? (cleanOne(block, 'link', 'uri') ?? []) : [block],
  );
  return { ...result, content: cleaned };
}

function isLink(block: unknown): block is Entry {
  return isRecord(block) && block.type === 'resource_link';
}

/**
 * Cleans an error of a server. The gateway's own errors about missing backends are recognized by their object, and not
 * changed.
 */
function cleanError(error: JsonRpcError): JsonRpcError {
  if (missingInputOf(error)) return error;
  const message = typeof error.message === 'string' ? cleanText(error.message) : '';
  const data = withOpenablePages(cleanTexts(error.data));
  if (message === error.message && data === error.data) return error;
  const { data: _data, ...rest } = error;
  return { ...rest, message, ...(data !== undefined && { data }) };
}

/** Keeps the pages that a user may be sent to (2025-11-25, `URLElicitationRequiredError`). */
function withOpenablePages(data: unknown): unknown {
  if (!isRecord(data) || !Array.isArray(data.elicitations)) return data;
  const elicitations = data.elicitations.filter((asked) => isRecord(asked) && isOpenable(asked.url));
  return elicitations.length === data.elicitations.length ? data : { ...data, elicitations };
}

const unreadable: JsonRpcError = {
  code: errorCodes.invalidParams,
  message:
    'The gateway does not pass this question on: a name, value or URL in it has characters nobody sees, is a script or is too large.',
  data: ownData({ reason: 'question_not_clean' }),
};

/** Cleans a server's requests to a client of 2026-07-28 in a result. */
function cleanInputRequests(result: Entry): Answer {
  const { inputRequests } = result;
  if (inputRequests === undefined) return { result };
  if (!isRecord(inputRequests)) return { error: unreadable };
  const cleaned: [string, unknown][] = [];
  for (const [key, asked] of Object.entries(inputRequests)) {
    const params = isRecord(asked) ? cleanQuestion(asked.method, asked.params) : undefined;
    if (!params || isUnclean(key)) return { error: unreadable };
    cleaned.push([key, { ...(asked as Entry), ...(params.value !== undefined && { params: params.value }) }]);
  }
  return { result: { ...result, inputRequests: Object.fromEntries(cleaned) } };
}

/** Members of notifications that are text for users. */
const toldIn: ReadonlyMap<string, string> = new Map([
  ['notifications/progress', 'message'],
  ['notifications/message', 'data'],
  ['notifications/cancelled', 'reason'],
]);

const tooLargeToTell = '(left out by the gateway: too large to be read)';

/** Cleans a server's requests and notifications to its client. */
function relay(said: Message): Message | { refusal: JsonRpcError } {
  const { method, params } = said;
  if (said.id === undefined) {
    const member = toldIn.get(method ?? '');
    const told = member === undefined ? undefined : params?.[member];
    if (member === undefined || told === undefined) return said;
    const cleaned = cleanTexts(told) ?? tooLargeToTell;
    return cleaned === told ? said : { ...said, params: { ...params, [member]: cleaned } };
  }
  const clean = cleanQuestion(method, params);
  if (!clean) return { refusal: unreadable };
  return clean.value === params ? said : { ...said, params: clean.value as Entry };
}

/** Returns the cleaned params of a request to a client; undefined if they cannot be cleaned. */
function cleanQuestion(method: unknown, params: unknown): { value: unknown } | undefined {
  if (method === 'elicitation/create') return cleanElicitation(params);
  if (method === 'sampling/createMessage') return cleanSampling(params);
  return { value: params };
}

function cleanElicitation(params: unknown): { value: unknown } | undefined {
  if (!isRecord(params)) return undefined;
  const { message, url, ...rest } = params;
  if (url !== undefined && !isOpenable(url)) return undefined;
  if (typeof message !== 'string') return undefined;
  const { definition } = cleanDefinition({ ...rest, text: { description: message } });
  if (!definition) return undefined;
  const { text, ...cleaned } = definition;
  const said = (text as { description: string }).description;
  return { value: { ...cleaned, message: said, ...(url !== undefined && { url }) } };
}

/** Cleans the names in a sampling request. Its messages are for a model, and for the user who is asked for consent. */
function cleanSampling(params: unknown): { value: unknown } | undefined {
  if (!isRecord(params)) return undefined;
  const { systemPrompt, messages, tools } = params;
  const cleanTools = Array.isArray(tools)
    ? tools.map((tool) => (isRecord(tool) ? cleanDefinition(tool).definition : undefined))
    : [];
  if (cleanTools.includes(undefined)) return undefined;
  return {
    value: {
      ...params,
      ...(typeof systemPrompt === 'string' && { systemPrompt: cleanText(systemPrompt) }),
      ...(Array.isArray(messages) && { messages: messages.map(cleanMessage) }),
      ...(Array.isArray(tools) && { tools: cleanTools }),
    },
  };
}

function cleanMessage(message: unknown): unknown {
  if (!isRecord(message)) return message;
  const { content } = message;
  return { ...message, content: Array.isArray(content) ? content.map(cleanBlock) : cleanBlock(content) };
}

function cleanBlock(block: unknown): unknown {
  return isRecord(block) && block.type === 'text' && typeof block.text === 'string'
    ? { ...block, text: cleanText(block.text) }
    : block;
}
