import { type AuthInfo, accountKeyPrefix, principalKey } from '../../oauth/auth-info.ts';
import type { Change, Conversations, InitializeParams, JsonRpcError, Listener } from '../protocol.ts';
import { type ConversationsOptions, createDedicatedConversations } from './dedicated-conversations.ts';
import { allCapabilities, anyCapabilities, readAbilities } from './negotiation.ts';
import { connectFailure, requireServer } from './server-factory.ts';
import { SharedConversation } from './shared-conversation.ts';
import { SharedServer } from './shared-server.ts';

/**
 * Creates conversations with servers of a source: each with its own server, or all with the same one. Conversations of
 * one request share servers of `principal` by {@link createPrincipalConversations}.
 */
export function createConversations(options: ConversationsOptions): Conversations {
  const { sharing } = options.source;
  if (sharing === 'account') return createPrincipalConversations(options);
  if (sharing === 'each' || sharing === 'principal') return createDedicatedConversations(options);
  const { relay, ...own } = options;
  const shared = createSharedConversations({ ...own, tell: relay && ((change) => relay.tell(change)) });
  const unlisten = relay?.listen(shared.hear, shared.hearAll);
  return {
    open: shared.open,
    close() {
      unlisten?.();
      return shared.close();
    },
  };
}

/** Options of {@link createPrincipalConversations}. */
export interface PrincipalConversationsOptions extends ConversationsOptions {
  /** Milliseconds that an unused server is kept; five minutes by default. */
  idleMs?: number;
}

/** The conversations of one principal with the same client capabilities. */
interface Own {
  conversations: SharedConversations;
  /** Number of servers that are open or being opened. */
  open: number;
  idle?: NodeJS.Timeout;
}

/**
 * Creates conversations that share one server for each principal: one account with one client (T-127, T-158). The server
 * is made for the first of them, and closed some time after the last has ended. It is told the capabilities of the
 * client, so each set of capabilities has a server of its own. If the source is shared by `account`, one server serves
 * all clients of an account instead, and is told all capabilities.
 */
export function createPrincipalConversations(options: PrincipalConversationsOptions): Conversations {
  const { source, relay, logger, idleMs = 300_000 } = options;
  const isOfAccount = source.sharing === 'account';
  const principals = new Map<string, Own>();

  const unlisten =
    isOfAccount &&
    relay?.listen(
      (change) => principals.get(change.account ?? '')?.conversations.hear(change),
      () => {
        for (const { conversations } of principals.values()) conversations.hearAll();
      },
    );

  const enter = (key: string, make: () => SharedConversations): Own => {
    const own = principals.get(key) ?? { conversations: make(), open: 0 };
    principals.set(key, own);
    clearTimeout(own.idle);
    own.open++;
    return own;
  };
  /** Returns the function to call when a conversation is over. Further calls do nothing. */
  const leaveOnce = (key: string, own: Own): (() => void) => {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      own.open--;
      if (own.open > 0 || principals.get(key) !== own) return;
      own.idle = setTimeout(() => {
        principals.delete(key);
        void own.conversations.close();
      }, idleMs).unref();
    };
  };

  const keyFor = (authInfo: AuthInfo | undefined, capabilities: InitializeParams['capabilities']): string => {
    if (!authInfo) return '';
    if (isOfAccount) return accountKeyPrefix(authInfo);
    const prefix = `${principalKey(authInfo)} `;
    const own = `${prefix}${JSON.stringify(readAbilities(capabilities))}`;
    if (capabilities !== anyCapabilities) return own;
    return [...principals.keys()].find((key) => key.startsWith(prefix)) ?? own;
  };

  return {
    async open(initialize, sender, listener) {
      const { authInfo } = sender;
      const capabilities = isOfAccount ? allCapabilities : initialize.capabilities;
      const key = keyFor(authInfo, capabilities);
      const own = enter(key, () =>
        createSharedConversations({
          capabilities,
          source: {
            sharing: source.sharing,
            create: ({ era }) => source.create({ era, ...(authInfo && { authInfo }) }),
          },
          tell: isOfAccount && relay ? (change) => relay.tell({ ...change, account: key }) : undefined,
          logger,
        }),
      );
      const leave = leaveOnce(key, own);
      const leaving: Listener = {
        hear: (message, relatedTo) => listener.hear(message, relatedTo),
        ended() {
          leave();
          listener.ended();
        },
      };
      try {
        const opening = await own.conversations.open(initialize, sender, leaving);
        if ('error' in opening) {
          leave();
          return opening;
        }
        const { conversation, result } = opening;
        const end = (): Promise<void> => {
          leave();
          return conversation.end();
        };
        const say: typeof conversation.say = (...said) => conversation.say(...said);
        return { conversation: { server: conversation.server, say, end }, result };
      } catch (error) {
        leave();
        throw error;
      }
    },
    async close() {
      if (unlisten) unlisten();
      const all = [...principals.values()];
      principals.clear();
      for (const { idle } of all) clearTimeout(idle);
      await Promise.all(all.map(({ conversations }) => conversations.close()));
    },
  };
}

/** Options of {@link createSharedConversations}. */
export interface SharedConversationsOptions extends Omit<ConversationsOptions, 'relay'> {
  /** Client capabilities declared to the server; all by default. */
  capabilities?: Record<string, unknown>;
  /** See `SharedServerOptions`. */
  tell?: ((change: Change) => void) | undefined;
}

/** Conversations that share one server. */
interface SharedConversations extends Conversations {
  /** Notifies them of a change at another node, if there is a server. */
  hear(change: Change): void;
  /** Notifies them of all that may have changed. */
  hearAll(): void;
}

/**
 * Creates conversations that share one server. The server is made, connected and initialized for the first of them, and
 * made again after it closed. A ready-made server cannot be made again.
 */
function createSharedConversations(options: SharedConversationsOptions): SharedConversations {
  const { source, tell, logger, capabilities = allCapabilities } = options;
  let starting: Promise<SharedServer | { error: JsonRpcError }> | undefined;
  let wasStarted = false;

  const start = async (): Promise<SharedServer | { error: JsonRpcError }> => {
    if (wasStarted && source.sharing === 'single')
      throw new Error(
        'The MCP server was closed, and it cannot be made again. Bring a function that makes it.',
      );
    const made = requireServer(await source.create({ era: 'legacy' }));
    const shared = new SharedServer(made, { capabilities, logger, source, tell });
    const error = await shared.start().catch(async (failure: unknown) => {
      if (source.sharing === 'single') throw connectFailure(failure);
      await shared.close();
      throw failure;
    });
    wasStarted = true;
    if (!error) return shared;
    await shared.close();
    return { error };
  };

  const running = async (): Promise<SharedServer | { error: JsonRpcError }> => {
    starting ??= start();
    const attempt = starting;
    try {
      const started = await attempt;
      if (started instanceof SharedServer && !started.line.isClosed) return started;
      if (starting === attempt) starting = undefined;
      return started instanceof SharedServer ? running() : started;
    } catch (error) {
      if (starting === attempt) starting = undefined;
      throw error;
    }
  };

  const withRunning = (work: (shared: SharedServer) => void): void => {
    starting?.then(
      (shared) => shared instanceof SharedServer && work(shared),
      () => undefined,
    );
  };

  return {
    hear: (change) => withRunning((shared) => shared.hear(change)),
    hearAll: () => withRunning((shared) => shared.hearAll()),
    async open(initialize, _sender, listener) {
      const shared = await running();
      if (!(shared instanceof SharedServer)) return shared;
      const conversation = new SharedConversation(shared, initialize, listener);
      shared.conversations.set(conversation.sessionId, conversation);
      return { conversation, result: shared.resultFor(initialize.protocolVersion) };
    },
    async close() {
      const shared = await starting?.catch(() => undefined);
      starting = undefined;
      if (shared instanceof SharedServer) await shared.close();
    },
  };
}
