import { hkdfSync, randomUUID } from 'node:crypto';
import { createSealedBox } from '../crypto/sealed-box.ts';
import type { Logger } from '../observability/logger.ts';
import type { NodeMessageStore, NodeStore } from '../storage/nodes.ts';
import type { ClusterNode } from './node.ts';

/** Time for which messages are gathered before they are written together, in milliseconds. */
export const gatherMs = 50;

/** Pause between looks whether there are new messages, in milliseconds. It costs no query if there are none. */
const lookMs = 100;

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
interface Letter {
  from: string;
  /** Counts the letters of a sender, so that one that is written twice is read once. */
  number: number;
  /** Each with its age when the letter was sealed, in milliseconds. */
  messages: (readonly [...Message, ageMs: number])[];
  /** True if some had no room: everything counts as changed then. */
  hasGap: boolean;
}

/** Kind of the message that an operator accepted or forgot pins of a route. */
export const pinsReplaced = 'pins';

/** Takes the data of a message, which a node of another version may have written, and the time since it was posted. */
export type HearMessage = (data: unknown, ageMs: number) => void;

/** Carries messages between the nodes of an installation. */
export interface NodeBus {
  /**
   * Posts a message to all other nodes; none if there are none. Equal messages that are posted together arrive once. What
   * exceeds {@link maxMessageBytes} or {@link maxMessagesPerSecond} arrives as a gap.
   */
  post(...message: Message): void;
  /** Calls back for messages of other nodes. @returns ends it */
  on(kind: string, about: string, hear: HearMessage): () => void;
  /** Calls back if messages may have been lost: everything counts as changed then. @returns ends it */
  onGap(callback: () => void): () => void;
  /** Number of letters that could not be opened. */
  readonly unreadable: number;
  /** Carries messages from now on; none before. */
  join(node: Pick<ClusterNode, 'id' | 'hasOthers' | 'onBack'>): Promise<void>;
  /** Posts what was gathered, and ends. */
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
 * while its rows are stored. Letters are sealed: URIs and accounts are personal.
 */
export function createNodeBus({ store, secret, logger }: NodeBusOptions): NodeBus {
  const seal = createLetterSeal(secret);
  const listeners = new Map<string, Set<HearMessage>>();
  const gapListeners = new Set<() => void>();
  const lastNumbers = new Map<string, number>();
  let node: Pick<ClusterNode, 'id' | 'hasOthers' | 'onBack'> | undefined;
  /** Gathered messages by their JSON, with the time when the first of the equal ones was posted. */
  let gathered = new Map<string, number>();
  let hasGap = false;
  let number = 0;
  let secondEndsAt = 0;
  let inSecond = 0;
  let postTimer: NodeJS.Timeout | undefined;
  let posting: Promise<void> | undefined;
  let lookTimer: NodeJS.Timeout | undefined;
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
    if (inSecond >= maxMessagesPerSecond || gathered.size >= maxMessagesPerSecond) return false;
    inSecond++;
    return true;
  }

  function postLater(delayMs: number): void {
    if (postTimer || posting || isClosed) return;
    postTimer = setTimeout(() => {
      postTimer = undefined;
      posting = postGathered().then(
        () => {
          posting = undefined;
          if (gathered.size > 0 || hasGap) postLater(gatherMs);
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

  /** A letter that could not be written, with its time; it keeps its number. */
  let unwritten: { letter: Letter; sealedAt: number } | undefined;

  async function postGathered(): Promise<void> {
    if (!node) return;
    const now = performance.now();
    unwritten ??= takeGathered(node.id, now);
    // A node that joins later begins with nothing that could be stale.
    if (await node.hasOthers()) {
      const late = Math.max(0, Math.round(now - unwritten.sealedAt));
      const messages = unwritten.letter.messages.map(
        ([kind, about, data, ageMs]) => [kind, about, data, ageMs + late] as const,
      );
      await store.post(node.id, seal.seal({ ...unwritten.letter, messages }));
    }
    unwritten = undefined;
  }

  function takeGathered(from: string, now: number): { letter: Letter; sealedAt: number } {
    const messages = [...gathered].map(([text, at]) => {
      const [kind, about, data] = JSON.parse(text) as Message;
      return [kind, about, data, Math.max(0, Math.round(now - at))] as const;
    });
    const letter = { from, number: ++number, messages, hasGap };
    gathered = new Map();
    hasGap = false;
    return { letter, sealedAt: now };
  }

  function hearGap(): void {
    for (const callback of gapListeners) attempt(callback);
  }

  function attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      logger.warn({ err: error }, 'a message of another node could not be applied');
    }
  }

  function open(payload: Uint8Array): Letter | undefined {
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

  function hear({ from, number: sent, messages, hasGap: sentGap }: Letter, ageMs: number): void {
    if ((lastNumbers.get(from) ?? 0) >= sent) return;
    if (lastNumbers.size >= maxSenders) lastNumbers.clear();
    lastNumbers.set(from, sent);
    for (const [kind, about, data, age] of messages) {
      const heard = listeners.get(keyOf(kind, about));
      if (!heard) logger.debug({ kind }, 'a message of another node concerns nothing here');
      for (const each of heard ?? []) attempt(() => each(data, ageMs + age));
    }
    if (sentGap) hearGap();
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
        hearGap();
      }
      for (const { payload, ageMs } of got.messages) {
        const letter = open(payload);
        if (letter) hear(letter, ageMs);
      }
    }
    mark = seen;
  }

  return {
    post(...message) {
      if (!node || isClosed) return;
      const text = JSON.stringify(message);
      if (gathered.has(text)) return;
      if (Buffer.byteLength(text) > maxMessageBytes || !hasRoom()) hasGap = true;
      else gathered.set(text, performance.now());
      postLater(gatherMs);
    },
    on(kind, about, hear) {
      const key = keyOf(kind, about);
      const heard = listeners.get(key) ?? new Set();
      listeners.set(key, heard.add(hear));
      return () => {
        heard.delete(hear);
        if (heard.size === 0 && listeners.get(key) === heard) listeners.delete(key);
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
      joined.onBack(hearGap);
      lookTimer = setInterval(() => {
        reading ??= read(joined.id)
          // The mark is unknown, or the rows could not be read: the next look reads them.
          .catch((error: unknown) => logger.debug({ err: error }, 'messages of nodes cannot be read now'))
          .finally(() => {
            reading = undefined;
          });
      }, lookMs);
      lookTimer.unref();
    },
    async close() {
      isClosed = true;
      clearInterval(lookTimer);
      clearTimeout(postTimer);
      await reading;
      await posting;
      if (gathered.size > 0 || hasGap || unwritten)
        await postGathered().catch((error: unknown) =>
          logger.debug({ err: error }, 'the last messages to other nodes could not be written'),
        );
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
  const letter = { from, number: 1, messages: [[...message, 0] as const], hasGap: false };
  await nodeMessages.post(from, createLetterSeal(secret).seal(letter));
}

/** Seals letters under a key of their own. */
function createLetterSeal(secret: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'gatehouse messages of nodes', 32));
  const box = createSealedBox([{ id: 'nodes', key: key.toString('base64url') }]);
  return {
    seal: (letter: Letter): Uint8Array => box.seal(JSON.stringify(letter), 'letter'),
    /** @throws Error if it was sealed under another key or changed, or is no letter */
    open(sealed: Uint8Array): Letter {
      const letter = JSON.parse(box.open(sealed, 'letter')) as Letter;
      if (!Array.isArray(letter.messages)) throw new Error('it is no letter');
      return letter;
    },
  };
}
