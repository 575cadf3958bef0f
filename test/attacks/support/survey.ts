import { setTimeout as pause } from 'node:timers/promises';
import { createRandom, type Random } from '../../flows/attacks/support/random.ts';
import type { Target } from './gates.ts';
import { chooseShot, type Shot, writeShot } from './hostile-messages.ts';
import { type Lane, openLane } from './lane.ts';
import { judge, type Received } from './oracle.ts';

/** A kind of message that got past a guard, with the smallest input that does it. */
export interface Breach {
  kind: string;
  /** Where it was seen, as in `url-scopes over rest`. */
  places: Set<string>;
  count: number;
  /** What got through. */
  received: string;
  /** What was sent; undefined if no single message does it again. */
  sent?: string;
}

/** Collects what gets through, and decides about each message at once. */
export class Watch {
  readonly breaches = new Map<string, Breach & { suspects: { lane: Lane; shot: Shot }[] }>();
  /** Messages that got through by right, by target. */
  readonly allowed = new Map<string, number>();
  lanes: Lane[] = [];
  #targets = new Map<string, Target>();
  #hearing: ((received: Received) => void) | undefined;

  know(targets: readonly Target[]): void {
    for (const target of targets) this.#targets.set(target.name, target);
  }

  readonly take = (received: Received): void => {
    const target = this.#targets.get(received.target);
    this.#hearing?.(received);
    if (!target) return;
    const kinds = judge(received, target.strictness);
    if (kinds.length === 0) this.allowed.set(target.name, (this.allowed.get(target.name) ?? 0) + 1);
    for (const kind of kinds) {
      const breach = this.breaches.get(kind) ?? {
        kind,
        places: new Set(),
        count: 0,
        received: received.text,
        suspects: [],
      };
      breach.count++;
      breach.places.add(target.name);
      if (breach.suspects.length < 40)
        for (const lane of this.lanes)
          if (lane.target === target)
            breach.suspects.push(...lane.recent.map((shot) => ({ lane, shot })).reverse());
      this.breaches.set(kind, breach);
    }
  };

  /** Whether a message gets through as a breach of a kind when it is sent alone; what got through then. */
  async #repeats({ target, door }: Lane, shot: Shot, kind: string): Promise<string | undefined> {
    // A caller of its own: some messages do something the first time alone.
    const lane = await openLane(target, door);
    let found: string | undefined;
    let isOver = false;
    const text = `ok ${++barriers}`;
    this.#hearing = (received) => {
      if (received.target !== lane.target.name) return;
      if (judge(received, lane.target.strictness).includes(kind)) found ??= received.text;
      if (received.text.includes(text)) isOver = true;
    };
    await lane.shoot(shot);
    // What was sent before is through when a call that was sent after it is.
    await lane.call(text);
    for (let turn = 0; turn < 200 && !isOver && found === undefined; turn++) await pause(5);
    this.#hearing = undefined;
    lane.close();
    return found;
  }

  /** Finds the message behind each kind of breach, and takes away what it does not need. */
  async shrink(limitMs: number): Promise<void> {
    const endsAt = Date.now() + limitMs;
    for (const breach of this.breaches.values()) {
      for (const { lane, shot } of breach.suspects) {
        if (Date.now() > endsAt) return;
        let received = await this.#repeats(lane, shot, breach.kind);
        if (received === undefined) continue;
        let smallest = shot;
        for (let at = shot.mutations.length - 1; at >= 0; at--) {
          const fewer = { ...smallest, mutations: smallest.mutations.filter((_, index) => index !== at) };
          const again = await this.#repeats(lane, fewer, breach.kind);
          if (again !== undefined) [smallest, received] = [fewer, again];
        }
        breach.received = received;
        breach.sent = describe(lane, smallest);
        break;
      }
    }
  }
}

let barriers = 0;

function describe(lane: Lane, shot: Shot): string {
  const { body, headers } = writeShot(shot, lane.target.naming);
  const done = shot.mutations.map(({ name }) => name).join(' + ') || 'nothing';
  const { door, target } = lane;
  return `${target.name} over ${door} (${done}; ${JSON.stringify(shot)})\n      ${JSON.stringify(headers)}\n      ${JSON.stringify(body.toString('utf8')).slice(0, 600)}`;
}

/** Says what got through, a paragraph for each kind. */
export function report(breaches: Iterable<Breach>): string {
  return [...breaches]
    .map(
      ({ kind, count, places, sent, received }) =>
        `${kind}: ${count} times at ${[...places].join(', ')}\n    sent: ${sent ?? 'no single message does it again'}\n    got through: ${received.slice(0, 500)}`,
    )
    .join('\n');
}

/**
 * Sends hostile messages over every door of every target, one at a time over each.
 * @returns statuses of HTTP and how often each came
 */
export async function attack(
  watch: Watch,
  options: { targets: readonly Target[]; random: Random; count: number },
): Promise<Map<number, number>> {
  const { targets, random, count } = options;
  watch.know(targets);
  watch.lanes = await Promise.all(
    targets.flatMap((target) => target.doors.map((door) => openLane(target, door))),
  );
  const statuses = new Map<number, number>();
  let left = count;
  // The shots of a lane are chosen before they are sent, so the same seed is the same messages whatever is fast.
  const shares = watch.lanes.map((_, at) => Math.floor((count + at) / watch.lanes.length));
  await Promise.all(
    watch.lanes.map(async (lane, at) => {
      const own = createRandom(random.below(2 ** 31));
      for (let sent = 0; sent < (shares[at] ?? 0) && left > 0; sent++, left--) {
        const { status } = await lane.shoot(chooseShot(own, lane.door));
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }),
  );
  return statuses;
}
