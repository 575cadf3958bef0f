/** Details of an event, by name. */
type Details = Readonly<Record<string, string>>;

/** Counts events that anybody can cause, so that a flood of them does not push older events out of the audit log. */
export interface AuditTally {
  /**
   * Takes one more event.
   * @returns whether it is to be written by itself: it is the first like it in this window. Any other is counted
   */
  isFirst(event: string, details: Details): boolean;
  /** Ends the window: writes what was counted in it. */
  end(): void;
}

/** Events that are counted together. */
interface Kind {
  /** Details that all events of the kind share. */
  common: Details;
  /** The first of them, which was written by itself. */
  first: Details;
  /** True if a later event differs from the first. */
  isMixed: boolean;
  /** Number of events after the first. */
  further: number;
}

/** Granularity of a count: by all known details, by the account, by the address, or by no detail. */
type Width = 'known' | 'account' | 'address' | 'event';

/** Length of a window, in milliseconds; one begins with the first event after the end of another. */
export const tallyWindowMs = 600_000;

/**
 * Most kinds of each event in a window: of one address and of all addresses, and beyond them by account. Accounts cannot
 * be made up, so that there is more room for them: who was attacked is not to be hidden behind other rows.
 */
export const maxKinds = { ofAddress: 8, ofAll: 24, ofAccounts: 200 } as const;

/**
 * Creates the counter of events that anybody can cause (T-197). In one window it writes at most two rows for each kind.
 * Each event has its own `maxKinds` kinds and one more for the rest, however many addresses and names a caller invents.
 * @param write writes a row with the number of `times` after the first, and with `others` if the first does not
 *   represent all of them
 */
export function createAuditTally(write: (event: string, details: Details) => void): AuditTally {
  const byEvent = new Map<string, EventKinds>();
  let timer: NodeJS.Timeout | undefined;

  function end(): void {
    clearTimeout(timer);
    timer = undefined;
    const counted = [...byEvent].flatMap(([event, { all }]) =>
      [...all()].filter(({ further }) => further > 0).map((kind) => ({ event, row: rowOf(kind) })),
    );
    byEvent.clear();
    for (const { event, row } of counted) write(event, row);
  }

  return {
    isFirst(event, { requestId: _each, ...details }) {
      timer ??= setTimeout(end, tallyWindowMs).unref();
      const kinds = byEvent.get(event) ?? createEventKinds();
      byEvent.set(event, kinds);
      return kinds.add(details, knownOf(event, details));
    },
    end,
  };
}

interface EventKinds {
  /**
   * Counts an event under the narrowest kind there is, or for which there is room.
   * @param known what of its details nobody can make up at will
   * @returns whether it is the first of that kind
   */
  add(details: Details, known: Details): boolean;
  all(): Iterable<Kind>;
}

function createEventKinds(): EventKinds {
  const kinds = new Map<string, Kind>();
  const ofAddress = new Map<string, number>();
  let ofAll = 0;
  let ofAccounts = 0;

  function hasRoom(width: Width, { address }: Details): boolean {
    if (width === 'event') return true;
    if (width === 'account') return ofAccounts < maxKinds.ofAccounts;
    if (ofAll >= maxKinds.ofAll) return false;
    return width === 'address' || (ofAddress.get(address ?? '') ?? 0) < maxKinds.ofAddress;
  }

  function takeRoom(width: Width, { address }: Details): void {
    if (width === 'account') ofAccounts++;
    if (width === 'known' || width === 'address') ofAll++;
    if (width === 'known' && address !== undefined) ofAddress.set(address, (ofAddress.get(address) ?? 0) + 1);
  }

  return {
    add(details, known) {
      for (const [width, common] of widthsOf(known)) {
        const key = JSON.stringify([width, common]);
        const kind = kinds.get(key);
        if (kind) {
          kind.further++;
          kind.isMixed ||= !isSame(kind.first, details);
          return false;
        }
        if (hasRoom(width, known)) {
          kinds.set(key, { common, first: details, isMixed: false, further: 0 });
          takeRoom(width, known);
          return true;
        }
      }
      return false;
    },
    all: () => kinds.values(),
  };
}

/** Returns the details by which an event can be counted, the narrowest first. */
function widthsOf(known: Details): [Width, Details][] {
  const { accountId, address } = known;
  return [
    ['known', known],
    ...(accountId === undefined ? [] : [['account', { accountId }] satisfies [Width, Details]]),
    ...(address === undefined ? [] : [['address', { address }] satisfies [Width, Details]]),
    ['event', {}],
  ];
}

/** The details without what a stranger can write as they like: of a document that was refused, the host is left. */
function knownOf(event: string, { claimedClientId: _claimed, ...details }: Details): Details {
  if (event !== 'client.document_refused') return details;
  const { clientId = '', ...others } = details;
  const clientHost = URL.parse(clientId)?.hostname;
  return clientHost === undefined ? others : { ...others, clientHost };
}

function rowOf({ common, first, isMixed, further }: Kind): Details {
  const times = String(further);
  return isMixed ? { ...common, times, others: 'true' } : { ...first, times };
}

const isSame = (one: Details, other: Details): boolean => JSON.stringify(one) === JSON.stringify(other);
