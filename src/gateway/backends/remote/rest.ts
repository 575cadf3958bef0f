import { randomUUID } from 'node:crypto';
import type { JsonRpcError, Message } from '../../../mcp/protocol.ts';
import { errorCodes } from '../../../oauth/mcp-error-codes.ts';
import { withMeta } from '../message-rewrites.ts';
import type { WireAnswer } from './answer-body.ts';
import { answerOf } from './link.ts';
import { type Post, PostingLink, readJsonAnswer } from './posting-link.ts';

/** Methods whose effect is a later message, which Rest cannot transport. */
const needsBackChannel = new Set(['resources/subscribe', 'resources/unsubscribe', 'logging/setLevel']);

const noBackChannel: JsonRpcError = {
  code: errorCodes.methodNotFound,
  message: 'This server is reached over Rest, where nothing can be told later: ask for it when you need it.',
};

/**
 * A Rest server: each request is a POST of its own, and its response comes with it. There are no sessions, and no other
 * messages of the server. Ids are replaced by unique ones, because some servers send a response to the first client
 * that waits for its id (B7-13, B7-14, B7-16).
 */
export class RestLink extends PostingLink {
  readonly kind = 'rest';
  readonly hasSession = false;
  #version: string | undefined;

  override send(message: Message): void {
    // Servers of Rest remember nothing of us; what is no request would have no effect.
    if (message.method === undefined || message.id === undefined) return;
    const { id, method } = message;
    if (needsBackChannel.has(method))
      queueMicrotask(() => this.listener.hear({ jsonrpc: '2.0', id, error: noBackChannel } as Message, id));
    else super.send(message);
  }

  protected path(): string {
    const { pathname, search } = this.parts.url;
    return `${pathname}${search}`;
  }

  protected headers(post?: Post): readonly string[] {
    const version = this.#version === undefined ? [] : ['mcp-protocol-version', this.#version];
    return [
      'content-type',
      'application/json',
      'accept',
      'application/json',
      ...this.ownHeaders(post),
      ...version,
    ];
  }

  protected override bodyOf(post: Post): string {
    post.sentAs = randomUUID();
    return JSON.stringify({ ...withAuth(post.message, this.auth), id: post.sentAs });
  }

  protected answered(post: Post, answer: WireAnswer): void {
    readJsonAnswer(answer, this.parts, {
      messages: (list) => {
        const own = answerOf(list, post.sentAs);
        // Some answer with nothing when their time is up (B7-09).
        if (!own)
          this.fail(post, { reason: list.length === 0 ? 'backend_timed_out' : 'backend_answer_unreadable' });
        else this.#hear(post, own);
      },
      failed: (reason) => this.fail(post, { reason }),
    });
  }

  protected end(): void {}

  #hear(post: Post, answer: Message & { result?: unknown }): void {
    if (post.id === undefined || post.isOver) return;
    this.over(post);
    const own = { ...answer, id: post.id };
    if (post.message.method !== 'initialize' || answer.result === undefined) {
      this.listener.hear(own, post.id);
      return;
    }
    const { protocolVersion, capabilities } = Object(answer.result) as Record<string, unknown>;
    if (typeof protocolVersion === 'string' && /^[\x21-\x7e]{1,64}$/.test(protocolVersion))
      this.#version = protocolVersion;
    const result = { ...(answer.result as object), capabilities: withoutBackChannel(capabilities) };
    this.listener.hear({ ...own, result } as Message, post.id);
  }
}

/** Adds the credentials of the caller to `_meta.auth`; other keys of `_meta` stay (B7-16, B7-17). */
function withAuth(message: Message, auth: Readonly<Record<string, unknown>> | undefined): Message {
  if (auth === undefined) return message;
  return withMeta(message, { auth });
}

/** Removes the capabilities that need later messages. */
function withoutBackChannel(capabilities: unknown): Record<string, unknown> {
  const { logging: _logging, ...rest } = Object(capabilities) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(rest).map(([name, value]) => {
      const {
        listChanged: _changes,
        subscribe: _subscriptions,
        ...kept
      } = Object(value) as Record<string, unknown>;
      return [name, kept];
    }),
  );
}
