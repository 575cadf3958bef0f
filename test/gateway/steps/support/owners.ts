import { createOwnership, type TaskOwners } from '../../../../src/gateway/steps/ownership.ts';
import type { Step } from '../../../../src/gateway/steps/step.ts';
import type { Seal } from '../../../../src/mcp/protocol.ts';
import { type AuthInfo, principalKey } from '../../../../src/oauth/auth-info.ts';

/** Owners in memory, and what a test may do to them. */
export interface OwnersInMemory extends TaskOwners {
  /** Ends all that a caller owns, as the end of their grant does. */
  end(subject: string): void;
}

/** Most tasks of one caller here. */
export const mostTasks = 2;

/** Creates owners in memory. */
export function createOwners(): OwnersInMemory {
  const tasks = new Map<string, { caller: AuthInfo; ended: () => void }>();
  const owns = (taskId: string, caller: AuthInfo): boolean => {
    const owner = tasks.get(taskId);
    return owner !== undefined && principalKey(owner.caller) === principalKey(caller);
  };
  return {
    async add(taskId, caller, _ttlMs, ended) {
      if (tasks.has(taskId) && !owns(taskId, caller)) return 'taken';
      if ([...tasks.keys()].filter((one) => owns(one, caller)).length >= mostTasks) return 'full';
      tasks.set(taskId, { caller, ended });
      return 'added';
    },
    filterOwned: async (taskIds, caller) => new Set(taskIds.filter((taskId) => owns(taskId, caller))),
    end(subject) {
      for (const [taskId, { caller, ended }] of tasks)
        if (caller.subject === subject) {
          tasks.delete(taskId);
          ended();
        }
    },
  };
}

/** A seal that anybody can read, which is enough to see what is bound to what. */
const seal: Seal = {
  seal: (text, context) => Buffer.from(JSON.stringify([text, context])).toString('base64url'),
  open(sealed, context) {
    try {
      const [text, sealedFor] = JSON.parse(Buffer.from(sealed, 'base64url').toString()) as string[];
      return sealedFor === context ? text : undefined;
    } catch {
      return undefined;
    }
  },
};

/** Creates the step of a route over owners in memory. */
export function ownership(
  options: { owners?: TaskOwners; sharesConnections?: boolean; now?: () => number; route?: string } = {},
): Step {
  return createOwnership({
    route: 'notes',
    owners: createOwners(),
    seal,
    sharesConnections: false,
    logger: { warn: () => undefined },
    now: () => 1000,
    ...options,
  });
}
