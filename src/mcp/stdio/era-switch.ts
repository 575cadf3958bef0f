import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Conversations, Frames, Message, ServerSource } from '../protocol.ts';
import type { ServedMethods } from '../reading/methods.ts';
import { LegacyConnection } from './legacy-connection.ts';
import type { StdioConnection, WriteLine } from './lines.ts';
import { openModernConnection } from './modern-connection.ts';

/** Options of a stdio connection of either era. */
export interface EraSwitchOptions {
  source: ServerSource;
  conversations: Conversations;
  served: ServedMethods;
  write: WriteLine;
  onEnded(): void;
  authInfo?: AuthInfo;
  logger: Logger;
}

/**
 * Selects a connection's era by its first messages. A host that only sent `server/discover` may still initialize an
 * older revision.
 * @see MCP 2026-07-28 "Versioning" (B1-09, B5-16)
 */
export class EraSwitch implements StdioConnection {
  readonly #options: EraSwitchOptions;
  #link: StdioConnection | undefined;
  /** True if the link is of 2026-07-28. */
  #isModern = false;
  /** True if the era cannot change any more. */
  #isSettled = false;
  /** True if the server speaks 2026-07-28, as far as is known. */
  #speaksModern = true;
  #isEnded = false;

  constructor(options: EraSwitchOptions) {
    this.#options = options;
  }

  async take(messages: Frames): Promise<void> {
    const [first] = messages.list;
    if (!first) return;
    const link = await this.#linkFor(first);
    if (this.#isEnded) {
      await link.end();
      return;
    }
    this.#isSettled ||= this.#isModern
      ? first.id !== undefined && first.method !== 'server/discover'
      : first.method === 'initialize';
    await link.take(messages);
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#link?.end();
  }

  async #linkFor(message: Message): Promise<StdioConnection> {
    const wantsModern = this.#speaksModern && isModern(message);
    if (this.#link && (this.#isSettled || wantsModern === this.#isModern)) return this.#link;
    await this.#link?.end();
    const modern = wantsModern ? await openModernConnection(this.#options) : undefined;
    if (wantsModern) this.#speaksModern = modern !== undefined;
    this.#isModern = modern !== undefined;
    this.#link = modern ?? new LegacyConnection(this.#options);
    return this.#link;
  }
}

function isModern({ method, params }: Message): boolean {
  const { _meta } = params ?? {};
  return (
    method !== 'initialize' &&
    typeof _meta === 'object' &&
    _meta !== null &&
    PROTOCOL_VERSION_META_KEY in _meta
  );
}
