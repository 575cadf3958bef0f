import { CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server';
import { principalKey } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import type { AccessWatch } from '../http/exchange.ts';
import {
  type Backend,
  type Call,
  type Caller,
  type Change,
  type Conversations,
  type InitializeParams,
  type Listener,
  type Message,
  newestLegacyRevision,
  type Opening,
  type ServerSource,
} from '../protocol.ts';
import { changeOf, narrowed } from '../reading/changes.ts';
import { messagesOf } from '../reading/messages.ts';
import type { ScopeGate } from '../scopes/scope-gate.ts';
import { methodNotFound } from '../sdk/json-rpc-errors.ts';
import { allCapabilities } from '../sdk/negotiation.ts';
import { StartProgress } from '../sdk/start-progress.ts';
import { BridgedCall, ParkedCalls, type WatchRevoked } from './bridged-call.ts';
import { declaredCapabilities } from './client-inputs.ts';
import { failedInside, refusalAnswer, stateNotValid } from './error-answers.ts';
import { discoverBy } from './internal-call.ts';
import { discoverResult } from './legacy-results.ts';
import { createRecentSchemas } from './mirrored-headers.ts';
import { accountOf } from './subscriptions.ts';

/** Options of the bridge. */
export interface LegacyBridgeOptions {
  conversations: Conversations;
  source: Pick<ServerSource, 'sharing'>;
  /** Checks the scopes that a server declares. */
  gate: Pick<ScopeGate, 'check'>;
  /** Takes the changes from a server of one call. Shared servers notify each listener themselves. */
  publish(change: Change): void;
  /** Cancels calls that wait for input if their caller's access is revoked; none by default. */
  accessWatch?: AccessWatch;
  /** Epoch seconds; needed with `accessWatch`. */
  now?: () => number;
  logger: Logger;
}

/** Most calls of one principal that wait for input. */
const maxParkedPerPrincipal = 8;

/** Methods of older revisions that 2026-07-28 does not have (C3-06). */
const removedMethods = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/get',
  'tasks/result',
  'tasks/list',
  'tasks/cancel',
]);

/**
 * Creates the backend that serves 2026-07-28 with servers of older revisions. Each request is a conversation of its own,
 * which ends with the response. Only a call that waits for input of its client outlives its request.
 * @see MCP 2026-07-28 "Versioning", "Multi Round-Trip Requests" (C3-02, C4-06)
 */
export function createLegacyBridge(options: LegacyBridgeOptions): Backend {
  const { conversations, source, gate, publish, accessWatch, now = () => 0, logger } = options;
  const parked = new ParkedCalls<BridgedCall>(maxParkedPerPrincipal);

  const running = new Set<BridgedCall>();
  // A client may return with a renewed token, so an expired token does not cancel the call.
  const watchRevoked: WatchRevoked | undefined =
    accessWatch &&
    ((authInfo, revoked) => accessWatch.watch(authInfo, () => authInfo.expiresAt > now() && revoked()));

  const open = (call: Pick<Call, 'request' | 'caller'>, listener: Listener): Promise<Opening> => {
    // A shared server is told all capabilities. Requests for those that this client lacks are rejected.
    const hasOwnCapabilities = ['each', 'principal', 'account'].includes(source.sharing);
    const capabilities = hasOwnCapabilities ? declaredCapabilities(call) : allCapabilities;
    const meta = call.request.params?._meta as Record<string, unknown> | undefined;
    const clientInfo = (meta?.[CLIENT_INFO_META_KEY] ?? unnamed) as InitializeParams['clientInfo'];
    return conversations.open(
      { protocolVersion: newestLegacyRevision, capabilities, clientInfo },
      { ...call.caller, answersUndeclared: true },
      listener,
    );
  };

  const publishing = (bridged: BridgedCall, { authInfo }: Caller): Listener => {
    if (source.sharing !== 'each') return bridged;
    return {
      hear(message, relatedTo) {
        const change = changeOf(message);
        if (change) publish(narrowed(change, accountOf(authInfo)));
        else bridged.hear(message, relatedTo);
      },
      ended: () => bridged.ended(),
    };
  };

  const start = async (call: Call, bridged: BridgedCall): Promise<void> => {
    const waiting = new StartProgress('The MCP server is starting.', (progress) => call.notify(progress));
    waiting.add(call.request);
    const opening = await open(call, publishing(bridged, call.caller)).finally(() => waiting.stop());
    if ('error' in opening) return bridged.finish({ status: 200, error: opening.error });
    const { conversation, result } = opening;
    const { request, caller } = call;
    if (request.method === 'server/discover') {
      bridged.finish({ status: 200, result: discoverResult(result) });
      return conversation.end();
    }
    const refusal = await gate.check(messagesOf(request), caller.authInfo, conversation.server);
    if (!refusal) return bridged.begin(conversation, result);
    bridged.finish(refusalAnswer(refusal));
    return conversation.end();
  };

  const begin = (call: Call): (() => void) => {
    const { method, params } = call.request;
    if (removedMethods.has(method)) {
      call.answer({ status: 404, error: methodNotFound });
      return () => {};
    }
    if (params?.requestState !== undefined) {
      const waiting = parked.take(String(params.requestState), principalKey(call.caller.authInfo));
      if (!waiting) call.answer(stateNotValid);
      waiting?.resume(call);
      return () => waiting?.cancel();
    }
    const bridged = new BridgedCall(call, parked, () => running.delete(bridged), watchRevoked);
    running.add(bridged);
    start(call, bridged).catch((error: unknown) => {
      logger.error({ err: error }, 'an MCP request failed');
      bridged.finish(failedInside);
    });
    return () => bridged.cancel();
  };

  return {
    checksEnvelope: 'nothing',
    checksScopesItself: true,
    begin,
    // Notifications of 2026-07-28 belong to requests, and requests end with their stream.
    notify() {},
    discover: (caller) => discoverBy(begin, caller),
    inputSchemaOf: createRecentSchemas(begin).find,
    listen: (filter, call, { tell, ended }) => {
      let end: (() => void) | undefined = () => {};
      const listener: Listener = {
        hear(message) {
          const change = changeOf(message);
          if (change) tell(change);
        },
        ended,
      };
      open(call, listener)
        .then((opening) => {
          if ('error' in opening) return ended();
          const { conversation } = opening;
          if (!end) return conversation.end();
          end = () => void conversation.end();
          for (const message of listening(filter.resourceSubscriptions))
            conversation.say(message, call.caller);
        })
        .catch((error: unknown) => {
          logger.warn({ err: error }, 'nobody tells of changes of an MCP server');
          ended();
        });
      return () => {
        end?.();
        end = undefined;
      };
    },
    async close() {
      parked.cancelAll();
      for (const bridged of running) bridged.ended();
    },
  };
}

const unnamed: InitializeParams['clientInfo'] = { name: 'unnamed', version: '0' };

/** Requests that subscribe to changes in a conversation of an older revision. */
function listening(uris: readonly string[] = []): Message[] {
  const subscribe = uris.map((uri, id) => ({
    jsonrpc: '2.0' as const,
    id,
    method: 'resources/subscribe',
    params: { uri },
  }));
  return [{ jsonrpc: '2.0', method: 'notifications/initialized' }, ...subscribe];
}
