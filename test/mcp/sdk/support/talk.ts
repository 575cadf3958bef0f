import type { RequestId } from '@modelcontextprotocol/server';
import { onTestFinished, vi } from 'vitest';
import type {
  Conversation,
  Conversations,
  McpLike,
  Message,
  Sender,
  ServerSource,
} from '../../../../src/mcp/protocol.ts';
import { createConversations } from '../../../../src/mcp/sdk/conversations.ts';
import type { AuthInfo } from '../../../../src/oauth/auth-info.ts';
import { createLogger } from '../../../../src/observability/logger.ts';

const logger = createLogger('silent');

/** A message of a server, with all it may hold. */
export interface Heard extends Message {
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
  relatedTo?: RequestId;
}

/** Conversations with what a factory makes, closed after the test. */
export function startConversations(sharing: ServerSource['sharing'], make: () => unknown): Conversations {
  const conversations = createConversations({
    source: { sharing, create: () => make() as McpLike },
    logger,
  });
  onTestFinished(() => conversations.close());
  return conversations;
}

/** A caller. */
export function callerNamed(subject: string): AuthInfo {
  const audience = 'https://example.com/mcp';
  const issuer = 'https://example.com';
  return { issuer, subject, clientId: 'c', scopes: ['a'], audience, expiresAt: 4_000_000_000 };
}

/** A conversation in the hand of a test. */
export interface Talk {
  conversation: Conversation;
  result: Record<string, unknown>;
  heard: Heard[];
  hasEnded: () => boolean;
  say(message: object): void;
  /** Sends a request; gives its answer. */
  ask(method: string, params?: object, id?: RequestId): Promise<Heard>;
  /** Calls a tool; gives the text it answers with, or the whole answer where that is none. */
  call(name: string, input?: Record<string, string>, meta?: object): Promise<unknown>;
  /** The next message heard that fits, now or later. */
  hears(fits: (message: Heard) => boolean): Promise<Heard>;
}

/** What a conversation begins with. */
export interface TalkOptions {
  subject?: string;
  capabilities?: Record<string, unknown>;
  protocolVersion?: string;
  sender?: Partial<Sender>;
}

/** Opens a conversation. Its requests have the ids 1, 2, 3 …, as those of all clients. */
export async function openTalk(conversations: Conversations, options: TalkOptions = {}): Promise<Talk> {
  const { subject = 'ann', capabilities = {}, protocolVersion = '2025-11-25' } = options;
  const heard: Heard[] = [];
  let ended = false;
  let lastId = 0;
  const sender: Sender = { authInfo: callerNamed(subject), ...options.sender };
  const clientInfo = { name: 'test', version: '1.0.0' };
  const opening = await conversations.open({ protocolVersion, capabilities, clientInfo }, sender, {
    hear: (message, relatedTo) => {
      heard.push({ ...message, ...(relatedTo === undefined ? {} : { relatedTo }) });
    },
    ended: () => {
      ended = true;
    },
  });
  if ('error' in opening) throw new Error(opening.error.message);
  const { conversation, result } = opening;
  const say = (message: object): void => conversation.say({ jsonrpc: '2.0', ...message }, sender);
  say({ method: 'notifications/initialized' });

  const hears: Talk['hears'] = async (fits) => {
    await vi.waitUntil(() => heard.some(fits), { timeout: 10_000, interval: 1 });
    return heard.find(fits) as Heard;
  };
  const ask: Talk['ask'] = (method, params = {}, id = ++lastId) => {
    const from = heard.length;
    say({ id, method, params });
    return hears(
      (message) => message.method === undefined && message.id === id && heard.indexOf(message) >= from,
    );
  };
  return {
    conversation,
    result,
    heard,
    hasEnded: () => ended,
    say,
    ask,
    hears,
    async call(name, input = {}, meta) {
      const params = { name, arguments: input, ...(meta ? { _meta: meta } : {}) };
      const answer = await ask('tools/call', params);
      const content = answer.result?.content as { text?: string }[] | undefined;
      return content?.[0]?.text ?? answer;
    },
  };
}
