import { setBounded } from '../../collections/caches.ts';
import { plainJson } from '../../collections/exact-json.ts';
import { openElicitations } from '../../mcp/building-blocks.ts';
import { isRecord, type JsonRpcError, type RequestMessage, type Seal } from '../../mcp/protocol.ts';
import { type AuthInfo, principalKey } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Answer, Line, Next, Passing, Step } from './step.ts';

/** Remembers the owners of the tasks at the backends of a route. */
export interface TaskOwners {
  /**
   * Stores the caller as the owner of a task, durably.
   * @param ttlMs how long the backend keeps the task, in milliseconds; undefined if the backend sets no limit
   * @param ended called once, within a second after the grant of the owner ended; never for a task that expired
   * @returns `taken` if the task belongs to another caller, `full` if the caller owns too many, `ended` if the grant has ended
   */
  add(
    taskId: string,
    caller: AuthInfo,
    ttlMs: number | undefined,
    ended: () => void,
  ): Promise<'added' | 'taken' | 'full' | 'ended'>;
  /** Returns those of the tasks that the caller owns. */
  filterOwned(taskIds: readonly string[], caller: AuthInfo): Promise<ReadonlySet<string>>;
}

/** Options of {@link createOwnership}. */
interface OwnershipOptions {
  /** Name of the route. */
  route: string;
  owners: TaskOwners;
  seal: Seal;
  /** True if one connection to the backend carries several clients: a message without a call has no addressee then. */
  sharesConnections: boolean;
  logger: Pick<Logger, 'warn'>;
  /** Epoch seconds. */
  now: () => number;
}

/** Methods that neither issue nor use ids. */
const untouched = new Set(['initialize', 'ping', 'logging/setLevel', 'server/discover']);

/** Methods whose results are not pages. */
const unpaged = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
]);

const relatedTaskKey = 'io.modelcontextprotocol/related-task';
const cursorSeconds = 86_400;
const maxTaskIdLength = 1024;
/** Maximum number of tasks with a cached owner, and of elicitations of a connection. */
const maxKnown = 10_000;
const maxElicitations = 100;

/** A request as the caller sent it, and the same request with the cursor of the backend. */
interface Asked {
  asked: RequestMessage;
  opened: RequestMessage;
}

/** State of one connection to the backend. */
interface LineState {
  /** URIs of the resources that its clients subscribed to. */
  subscribed: Set<string>;
  /** Elicitations by URL that the backend started on it. */
  elicitations: Set<string>;
}

/**
 * Creates the step that binds ids which a backend issues to account, client and route. It is for backends at which
 * several principals share a credential or a process. Tasks have a stored owner; cursors are sealed; resource updates
 * and ends of elicitations reach only the connection that asked for them.
 * @see MCP 2025-11-25 "Tasks", "Pagination"; tasks extension of 2026-07-28 (FA-03, T-203)
 */
export function createOwnership(options: OwnershipOptions): Step {
  const { route, owners, seal, sharesConnections, logger, now } = options;
  /** Owners of running tasks, for notifications, which must not wait for the store. */
  const known = new Map<string, string>();
  const lines = new WeakMap<object, LineState>();
  const stateOf = (behind: object): LineState => {
    const state = lines.get(behind) ?? { subscribed: new Set(), elicitations: new Set() };
    lines.set(behind, state);
    return state;
  };

  const ownsAll = async (taskIds: readonly string[], caller: AuthInfo | undefined): Promise<boolean> => {
    if (!caller) return false;
    const owned = await owners.filterOwned(taskIds, caller);
    for (const taskId of owned) setBounded(known, taskId, principalKey(caller), maxKnown);
    return taskIds.every((taskId) => owned.has(taskId));
  };

  const contextOf = (method: string, caller: AuthInfo | undefined): string =>
    JSON.stringify(['cursor', route, method, caller && principalKey(caller), caller?.grantId ?? null]);

  /** Opens the cursor of a request; undefined if it was not issued for this caller and list, or is too old. */
  const openCursor = (request: RequestMessage, caller: AuthInfo | undefined): RequestMessage | undefined => {
    const { cursor } = request.params ?? {};
    if (cursor === undefined || cursor === '') return request;
    if (typeof cursor !== 'string') return undefined;
    const text = seal.open(cursor, contextOf(request.method, caller));
    if (text === undefined) return undefined;
    const { expiresAt, cursor: own } = JSON.parse(text) as { expiresAt: number; cursor: string };
    return expiresAt < now() ? undefined : { ...request, params: { ...request.params, cursor: own } };
  };

  const sealCursor = (
    result: Record<string, unknown>,
    { asked, opened }: Asked,
    caller: AuthInfo | undefined,
  ): Record<string, unknown> => {
    const { nextCursor, ...page } = result;
    // An empty cursor carries nothing, and anything but text is none.
    if (typeof nextCursor !== 'string') return page;
    if (nextCursor === '') return result;
    // Readers of lists stop at a cursor that they know, so a repeated cursor stays the same.
    if (nextCursor === opened.params?.cursor) return { ...result, nextCursor: asked.params?.cursor };
    const text = JSON.stringify({ expiresAt: now() + cursorSeconds, cursor: nextCursor });
    return { ...result, nextCursor: seal.seal(text, contextOf(opened.method, caller)) };
  };

  /** Stores the owner of a task before its id is sent. */
  const bind = async (
    taskId: string,
    ttlMs: unknown,
    { caller, ask }: Passing,
  ): Promise<JsonRpcError | undefined> => {
    const cancel = (): void => void ask('tasks/cancel', { taskId });
    const said = plainJson(ttlMs);
    const lifeMs = typeof said === 'number' && said >= 0 ? said : undefined;
    const ended = (): void => {
      known.delete(taskId);
      cancel();
    };
    const outcome = caller ? await owners.add(taskId, caller, lifeMs, ended) : 'ended';
    if (outcome === 'added' && caller) {
      setBounded(known, taskId, principalKey(caller), maxKnown);
      return undefined;
    }
    logger.warn(
      { route, outcome },
      'a task of a backend is not handed out: it cannot be bound to its caller',
    );
    // A task of somebody else is theirs to cancel.
    if (outcome !== 'taken') cancel();
    return outcome === 'full' ? tooManyTasks : notBound;
  };

  /** Returns the response for the caller: tasks are bound or removed, the cursor is sealed. */
  const own = async (request: Asked, answer: Answer, passing: Passing): Promise<Answer> => {
    const { result } = answer;
    if (!result) return answer;
    const { method } = request.opened;
    const { caller } = passing;
    if (method === 'tasks/list') {
      const tasks = (Array.isArray(result.tasks) ? result.tasks : []).filter(hasTaskId);
      const owned = caller
        ? await owners.filterOwned(
            tasks.map(({ taskId }) => taskId),
            caller,
          )
        : new Set();
      const page = { ...result, tasks: tasks.filter(({ taskId }) => owned.has(taskId)) };
      return { result: sealCursor(page, request, caller) };
    }
    if (!method.startsWith('tasks/')) {
      const made = taskMade(request.opened, result);
      const error = made === 'unreadable' ? notBound : made && (await bind(made.taskId, made.ttlMs, passing));
      if (error) return { error };
    }
    return unpaged.has(method) || !('nextCursor' in result)
      ? answer
      : { result: sealCursor(result, request, caller) };
  };

  /** Takes note of the subscriptions of a connection. */
  const subscribe = async (request: RequestMessage, { behind }: Passing, next: Next): Promise<Answer> => {
    const { subscribed } = stateOf(behind);
    const uri = request.params?.uri;
    if (typeof uri !== 'string') return { error: uriMissing };
    if (request.method === 'resources/unsubscribe') {
      const answer = await next(request);
      if (answer.result) subscribed.delete(uri);
      return answer;
    }
    const isNew = !subscribed.has(uri);
    // Before the answer: the first update may come before it.
    subscribed.add(uri);
    const answer = await next(request);
    if (isNew && answer.error) subscribed.delete(uri);
    return answer;
  };

  const isOwnTask = (taskId: unknown, { caller }: Line): boolean =>
    !sharesConnections &&
    caller !== undefined &&
    typeof taskId === 'string' &&
    known.get(taskId) === principalKey(caller);

  return {
    cares: (method) => !untouched.has(method),
    async answer(request, passing, next) {
      const { method, params } = request;
      const { caller } = passing;
      const taskIds = tasksOf(request);
      if (!taskIds) return { error: unknownTask };
      if (taskIds.length > 0 && !(await ownsAll(taskIds, caller))) return { error: unknownTask };
      const opened = params && !unpaged.has(method) ? openCursor(request, caller) : request;
      if (!opened) return { error: unknownCursor };
      const isSubscription = method === 'resources/subscribe' || method === 'resources/unsubscribe';
      const given = await (isSubscription ? subscribe(opened, passing, next) : next(opened));
      if (given.error)
        for (const id of openElicitations({ jsonrpc: '2.0', error: given.error }))
          note(stateOf(passing.behind).elicitations, id);
      const answer = await own({ asked: request, opened }, given, passing);
      // The grant may have ended while the backend worked.
      if (taskIds.length > 0 && !(await ownsAll(taskIds, caller))) return { error: unknownTask };
      return answer;
    },
    mayTell(said, line) {
      if (!line) return true;
      const { method = '', params = {} } = said;
      const { behind } = line;
      const related = relatedTask(params);
      if (related !== undefined && !isOwnTask(related, line)) return false;
      if (method.startsWith('notifications/tasks')) return isOwnTask(params.taskId, line);
      if (method === 'notifications/resources/updated')
        return isSubscribed(stateOf(behind).subscribed, params.uri);
      if (method === 'notifications/elicitation/complete')
        return (stateOf(behind).elicitations as Set<unknown>).delete(params.elicitationId);
      for (const id of openElicitations(said)) note(stateOf(behind).elicitations, id);
      return true;
    },
    mayPass({ method = '', params = {} }, line) {
      const related = relatedTask(params);
      if (related !== undefined && !isOwnTask(related, line)) return false;
      return !(sharesConnections && method.startsWith('notifications/tasks'));
    },
  };
}

/** Returns the tasks that a request names; undefined if it has to name one, or names one, in a form that cannot be read. */
function tasksOf({ method, params = {} }: RequestMessage): string[] | undefined {
  const named = method.startsWith('tasks/') && method !== 'tasks/list' ? [params.taskId] : [];
  const related = relatedTask(params);
  const all = related === undefined ? named : [...named, related];
  return all.every((taskId) => typeof taskId === 'string' && taskId.length <= maxTaskIdLength)
    ? (all as string[])
    : undefined;
}

/** Returns the task that `_meta` names: undefined if it names none, null if its form cannot be read. */
function relatedTask(params: Record<string, unknown>): unknown {
  const { _meta: meta } = params;
  if (!isRecord(meta) || !(relatedTaskKey in meta)) return undefined;
  const related = meta[relatedTaskKey];
  return (isRecord(related) ? related.taskId : undefined) ?? null;
}

/** Returns the task that a result contains, or undefined. */
function taskMade(
  { params }: RequestMessage,
  result: Record<string, unknown>,
): { taskId: string; ttlMs: unknown } | 'unreadable' | undefined {
  if (result.resultType === 'task')
    return hasTaskId(result) ? { taskId: result.taskId, ttlMs: result.ttlMs } : 'unreadable';
  const { task } = result;
  if (hasTaskId(task)) return { taskId: task.taskId, ttlMs: task.ttl };
  return task !== undefined && params?.task !== undefined ? 'unreadable' : undefined;
}

function hasTaskId(task: unknown): task is { taskId: string } & Record<string, unknown> {
  return isRecord(task) && typeof task.taskId === 'string' && task.taskId.length <= maxTaskIdLength;
}

/**
 * Returns true if an update is about a subscribed resource, or one below it.
 * @see MCP 2025-11-25 `ResourceUpdatedNotification`
 */
function isSubscribed(subscribed: ReadonlySet<string>, uri: unknown): boolean {
  if (typeof uri !== 'string') return false;
  if (subscribed.has(uri)) return true;
  for (const above of subscribed)
    if (uri.startsWith(above) && (above.endsWith('/') || '/?#'.includes(uri.charAt(above.length))))
      return true;
  return false;
}

function note(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > maxElicitations && oldest !== undefined) ids.delete(oldest);
}

/**
 * The error for the task of another caller, and for an unknown task.
 * @see MCP 2025-11-25 tasks "Error Handling"
 */
const unknownTask: JsonRpcError = {
  code: errorCodes.invalidParams,
  message: 'Invalid params: unknown task.',
};

const unknownCursor: JsonRpcError = {
  code: errorCodes.invalidParams,
  message: 'Invalid params: unknown cursor. Ask for the first page without one.',
};

const uriMissing: JsonRpcError = {
  code: errorCodes.invalidParams,
  message: 'Invalid params: uri must be text.',
};

const tooManyTasks: JsonRpcError = {
  code: errorCodes.internalError,
  message: 'You have too many tasks at this server. Wait until some have expired.',
};

const notBound: JsonRpcError = {
  code: errorCodes.internalError,
  message: 'The MCP server answered with a task that cannot be handed out. Send the request without one.',
};
