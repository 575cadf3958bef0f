import { hkdfSync, randomUUID } from 'node:crypto';
import { createSealedBox } from '../crypto/sealed-box.ts';
import type { Logger } from '../observability/logger.ts';
import type { NodeMessageStore, NodeStore } from '../storage/nodes.ts';
import type { ClusterNode } from './node.ts';

/** Maximum time that a message waits for others to be written with it, in milliseconds. */
export const batchMs = 50;

/** Pause between polls for new messages, in milliseconds. A poll costs no query if there are none. */
const pollMs = 100;

/** Pause before messages are written again that could not be written, in milliseconds. */
const retryMs = 1_000;

/** Maximum size of a message as JSON, in bytes. */
export const maxMessageBytes = 4_096;

/** Maximum number of different messages of a node in a second, and while the database is away. */
export const maxMessagesPerSecond = 200;

/** Maximum number of senders of which the last number is remembered. */
const maxSenders = 1_000;

/** A message: its kind, the object that it is about, such as a route, and its data. */
type Message = readonly [kind: string, about: string, data: unknown];

/** Messages that a node writes together. */
interface MessageBatch {
  from: string;
  /** Counts the batches of a sender, so that one that is written twice is read once. */
  number: number;
  /** Each with its age when the batch was sealed, in milliseconds. */
  messages: (readonly [...Message, ageMs: number])[];
  /** True if some had no room: everything counts as changed then. */
  hasGap: boolean;
}

/** Kind of the message that an operator accepted or forgot pins of a route. */
export const pinsReplaced = 'pins';

/** Takes the data of a message, which a node of another version may have written, and the time since it was posted. */
export type MessageListener = (data: unknown, ageMs: number) => void;

/** Carries messages between the nodes of an installation. */
export interface NodeBus {
  /**
   * Posts a message to all other nodes; none if there are none. Equal messages that are posted together arrive once. What
   * exceeds {@link maxMessageBytes} or {@link maxMessagesPerSecond} arrives as a gap.
   */
  post(...message: Message): void;
  /** Calls back for messages of other nodes. @returns ends it */
  on(kind: string, about: string, listener: MessageListener): () => void;
  /** Calls back if messages may have been lost: everything counts as changed then. @returns ends it */
  onGap(callback: () => void): () => void;
  /** Number of batches that could not be opened. */
  readonly unreadable: number;
  /** Carries messages from now on; none before. */
  join(node: Pick<ClusterNode, 'id' | 'hasOthers' | 'onBack'>): Promise<void>;
  /** Writes the pending messages, and ends. */
  close(): Promise<void>;
}

/** Options of {@link createNodeBus}. */
export interface NodeBusOptions {
  store: NodeMessageStore;
  /** A secret that all nodes have and that never changes. */
  secret: string;
  logger: Pick<Logger, 'debug' | 'warn'>;
}

/**
 * Creates the bus of a node. Its truth is a table that each node reads by position, so a lost connection loses nothing
 * while its rows are stored. Batches are sealed: URIs and accounts are personal.
 */
export function createNodeBus({ store, secret, logger }: NodeBusOptions): NodeBus {
  const seal = createBatchSeal(secret);
  const listeners = new Map<string, Set<MessageListener>>();
  const gapListeners = new Set<() => void>();
  const lastNumbers = new Map<string, number>();
  let node: Pick<ClusterNode, 'id' | 'hasOthers' | 'onBack'> | undefined;
  /** Pending messages by their JSON, with the time when the first of the equal ones was posted. */
  let pending = new Map<string, number>();
  /** Time from which a gap may be posted, of `performance.now()`; undefined if there is none. */
  let gapDueAt: number | undefined;
  let gapTimer: NodeJS.Timeout | undefined;
  let number = 0;
  let secondEndsAt = 0;
  let inSecond = 0;
  let postTimer: NodeJS.Timeout | undefined;
  let posting: Promise<void> | undefined;
  let pollTimer: NodeJS.Timeout | undefined;
  let reading: Promise<void> | undefined;
  let position = 0;
  let mark: number | undefined;
  let unreadable = 0;
  let isClosed = false;

  function hasRoom(): boolean {
    const now = performance.now();
    if (now >= secondEndsAt) {
      secondEndsAt = now + 1_000;
      inSecond = 0;
    }
    if (inSecond >= maxMessagesPerSecond || pending.size >= maxMessagesPerSecond) return false;
    inSecond++;
    return true;
  }

  function postLater(delayMs: number): void {
    if (postTimer || posting || isClosed) return;
    postTimer = setTimeout(() => {
      postTimer = undefined;
      posting = postPending().then(
        () => {
          posting = undefined;
          if (pending.size > 0 || isGapDue()) postLater(batchMs);
        },
        (error: unknown) => {
          posting = undefined;
          logger.debug({ err: error }, 'messages to other nodes could not be written yet');
          postLater(retryMs);
        },
      );
    }, delayMs);
    postTimer.unref();
  }

  /** Posts a gap once in a second: it makes others forget and list everything. */
  function postGapLater(): void {
    gapDueAt ??= secondEndsAt;
    gapTimer ??= setTimeout(
      () => {
        gapTimer = undefined;
        postLater(0);
      },
      Math.ceil(gapDueAt - performance.now()) + 1,
    ).unref();
  }

  function isGapDue(): boolean {
    return gapDueAt !== undefined && (isClosed || performance.now() >= gapDueAt);
  }

  /** A batch that could not be written, with its time; it keeps its number. */
  let unwritten: { batch: MessageBatch; sealedAt: number } | undefined;

  async function postPending(): Promise<void> {
    if (!node || (!unwritten && pending.size === 0 && !isGapDue())) return;
    const now = performance.now();
    unwritten ??= takePending(node.id, now);
    // A node that joins later begins with nothing that could be stale.
    if (await node.hasOthers()) {
      const late = Math.max(0, Math.round(now - unwritten.sealedAt));
      const messages = unwritten.batch.messages.map(
        ([kind, about, data, ageMs]) => [kind, about, data, ageMs + late] as const,
      );
      await store.post(node.id, seal.seal({ ...unwritten.batch, messages }));
    }
    unwritten = undefined;
  }

  function takePending(from: string, now: number): { batch: MessageBatch; sealedAt: number } {
    const messages = [...pending].map(([text, at]) => {
      const [kind, about, data] = JSON.parse(text) as Message;
      return [kind, about, data, Math.max(0, Math.round(now - at))] as const;
    });
    const batch = { from, number: ++number, messages, hasGap: isGapDue() };
    pending = new Map();
    if (batch.hasGap) gapDueAt = undefined;
    return { batch, sealedAt: now };
  }

  function notifyGap(): void {
    for (const callback of gapListeners) attempt(callback);
  }

  function attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      logger.warn({ err: error }, 'a message of another node could not be applied');
    }
  }

  function open(payload: Uint8Array): MessageBatch | undefined {
    try {
      return seal.open(payload);
    } catch (error) {
      if (unreadable === 0)
        logger.warn(
          { err: error },
          'a message of another node could not be opened: it was not written with the keys of this installation',
        );
      unreadable++;
      return undefined;
    }
  }

  function deliver({ from, number: sent, messages, hasGap: sentGap }: MessageBatch, ageMs: number): void {
    if ((lastNumbers.get(from) ?? 0) >= sent) return;
    if (lastNumbers.size >= maxSenders) lastNumbers.clear();
    lastNumbers.set(from, sent);
    for (const [kind, about, data, age] of messages) {
      const interested = listeners.get(keyOf(kind, about));
      if (!interested) logger.debug({ kind }, 'a message of another node concerns nothing here');
      for (const listener of interested ?? []) attempt(() => listener(data, ageMs + age));
    }
    if (sentGap) notifyGap();
  }

  async function read(from: string): Promise<void> {
    const seen = store.mark();
    if (seen === mark) return;
    for (let isEnd = false; !isEnd && !isClosed; ) {
      const got = await store.read(position, from);
      ({ position, isEnd } = got);
      if (!got.isComplete) {
        logger.warn(
          'messages of other nodes are lost: this node was away from the database for too long; caches and lists count as changed here',
        );
        notifyGap();
      }
      for (const { payload, ageMs } of got.messages) {
        const batch = open(payload);
        if (batch) deliver(batch, ageMs);
      }
    }
    mark = seen;
  }

  return {
    post(...message) {
      if (!node || isClosed) return;
      const text = JSON.stringify(message);
      if (pending.has(text)) return;
      if (!hasRoom() || Buffer.byteLength(text) > maxMessageBytes) postGapLater();
      else {
        pending.set(text, performance.now());
        postLater(batchMs);
      }
    },
    on(kind, about, listener) {
      const key = keyOf(kind, about);
      const ofKey = listeners.get(key) ?? new Set();
      listeners.set(key, ofKey.add(listener));
      return () => {
        ofKey.delete(listener);
        if (ofKey.size === 0 && listeners.get(key) === ofKey) listeners.delete(key);
      };
    },
    onGap(callback) {
      gapListeners.add(callback);
      return () => void gapListeners.delete(callback);
    },
    get unreadable() {
      return unreadable;
    },
    async join(joined) {
      position = await store.lastPosition();
      node = joined;
      // Others have posted nothing to a node that they took for dead.
      joined.onBack(notifyGap);
      pollTimer = setInterval(() => {
        reading ??= read(joined.id)
          // The mark is unknown, or the rows could not be read: the next poll reads them.
          .catch((error: unknown) => logger.debug({ err: error }, 'messages of nodes cannot be read now'))
          .finally(() => {
            reading = undefined;
          });
      }, pollMs);
      pollTimer.unref();
    },
    async close() {
      isClosed = true;
      clearInterval(pollTimer);
      clearTimeout(postTimer);
      clearTimeout(gapTimer);
      await reading;
      await posting;
      try {
        // One that could not be written before, and the rest.
        await postPending();
        await postPending();
      } catch (error) {
        logger.debug({ err: error }, 'the last messages to other nodes could not be written');
      }
      node = undefined;
    },
  };
}

function keyOf(kind: string, about: string): string {
  return `${kind} ${about}`;
}

/**
 * Posts a message to all nodes from a process that is none, such as an operator's command.
 * @param secret see {@link NodeBusOptions}
 */
export async function postToNodes(
  { nodes, nodeMessages }: { nodes: Pick<NodeStore, 'list'>; nodeMessages: Pick<NodeMessageStore, 'post'> },
  secret: string,
  ...message: Message
): Promise<void> {
  if ((await nodes.list()).length === 0) return;
  const from = randomUUID();
  const batch = { from, number: 1, messages: [[...message, 0] as const], hasGap: false };
  await nodeMessages.post(from, createBatchSeal(secret).seal(batch));
}

/** Seals batches under a key of their own. */
function createBatchSeal(secret: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'gatehouse messages of nodes', 32));
  const box = createSealedBox([{ id: 'nodes', key: key.toString('base64url') }]);
  return {
    seal: (batch: MessageBatch): Uint8Array => box.seal(JSON.stringify(batch), 'letter'),
    /** @throws Error if it was sealed under another key or changed, or is no batch */
    open(sealed: Uint8Array): MessageBatch {
      const batch = JSON.parse(box.open(sealed, 'letter')) as MessageBatch;
      if (!Array.isArray(batch.messages)) throw new Error('it is no batch');
      return batch;
    },
  };
}
