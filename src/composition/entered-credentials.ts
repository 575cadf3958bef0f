import type { SealedBox } from '../crypto/sealed-box.ts';
import type { EnteredValues } from '../gateway/index.ts';
import type { Logger } from '../observability/logger.ts';
import { type BackendCredentialStore, credentialContext } from '../storage/backends.ts';

/** What people have entered, and how long it is looked after. */
export interface EnteredCredentials extends EnteredValues {
  /** Looks for changes no more. */
  close(): void;
}

/** What they are read from. */
export interface EnteredCredentialsParts {
  store: Pick<BackendCredentialStore, 'find' | 'lastChange' | 'changesAfter'>;
  box: Pick<SealedBox, 'open'>;
  logger: Pick<Logger, 'warn'>;
  /** Pause between two looks for changes, in milliseconds; 500 by default. */
  intervalMs?: number;
}

/** Changes read at once. */
const batchSize = 500;

/**
 * Composes what people have entered for backends. While anybody listens it is looked for changes, whichever process made
 * them: the account page of another one, or an operator's command.
 */
export function composeEnteredCredentials(parts: EnteredCredentialsParts): EnteredCredentials {
  const { store, box, logger, intervalMs = 500 } = parts;
  const listeners = new Set<{ route: string; tell: (accountId: string) => void }>();
  let position: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let lastProblem = '';

  async function look(): Promise<void> {
    position ??= await store.lastChange();
    for (let read = batchSize; read === batchSize; ) {
      const changes = await store.changesAfter(position, batchSize);
      read = changes.length;
      position = changes.at(-1)?.position ?? position;
      const told = new Map(
        changes.map(({ accountId, route }) => [`${route} ${accountId}`, { accountId, route }]),
      );
      for (const { accountId, route } of told.values())
        for (const listener of listeners) if (listener.route === route) listener.tell(accountId);
    }
    lastProblem = '';
  }

  function lookLater(delayMs: number): void {
    if (timer || isClosed || listeners.size === 0) return;
    timer = setTimeout(() => {
      look()
        .catch((error: Error) => {
          if (error.message !== lastProblem)
            logger.warn({ err: error }, 'changes of credentials for backends cannot be looked for');
          lastProblem = error.message;
        })
        .finally(() => {
          timer = undefined;
          lookLater(intervalMs);
        });
    }, delayMs).unref();
  }

  return {
    async read(accountId, route, name) {
      const sealed = await store.find({ accountId, route, name });
      return sealed && box.open(sealed, credentialContext(accountId, route, name));
    },
    onChange(route, tell) {
      const listener = { route, tell };
      listeners.add(listener);
      lookLater(0);
      return () => void listeners.delete(listener);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
