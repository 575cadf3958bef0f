/** Who, where and why, by name. */
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

/** What is counted together. */
interface Kind {
  event: string;
  /** What all of them have in common. */
  details: Details;
  /** How many came after the first. */
  further: number;
}

/** Length of a window, in milliseconds; one begins with the first event after the end of another. */
export const tallyWindowMs = 600_000;

/** Most kinds in a window, of one address and of all: beyond them an address, and then an event, is one kind. */
export const maxKinds = { ofAddress: 20, ofAll: 200 } as const;

/**
 * Creates the count of events that anybody can cause (T-197). In a window it writes two rows for each kind at most, and there
 * are `maxKinds.ofAll` and one for each event, however many addresses and names somebody makes up.
 * @param write writes a row with the number of `times` behind the first
 */
export function createAuditTally(write: (event: string, details: Details) => void): AuditTally {
  const kinds = new Map<string, Kind>();
  const kindsOfAddress = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  /** The details that an event is counted under, the narrowest for which there is room. */
  function commonDetails(event: string, { requestId: _each, ...details }: Details): Details {
    const { address } = details;
    const ofAddress = address === undefined ? details : { address };
    const known = [details, ofAddress].find((common) => kinds.has(keyOf(event, common)));
    if (known) return known;
    if (kinds.size >= maxKinds.ofAll) return {};
    return kindsOf(address) < maxKinds.ofAddress ? details : ofAddress;
  }

  const kindsOf = (address: string | undefined): number =>
    address === undefined ? 0 : (kindsOfAddress.get(address) ?? 0);

  function end(): void {
    clearTimeout(timer);
    timer = undefined;
    const counted = [...kinds.values()].filter(({ further }) => further > 0);
    kinds.clear();
    kindsOfAddress.clear();
    for (const { event, details, further } of counted) write(event, { ...details, times: String(further) });
  }

  return {
    isFirst(event, details) {
      timer ??= setTimeout(end, tallyWindowMs).unref();
      const common = commonDetails(event, details);
      const key = keyOf(event, common);
      const kind = kinds.get(key);
      if (kind) {
        kind.further++;
        return false;
      }
      kinds.set(key, { event, details: common, further: 0 });
      const { address } = details;
      if (address !== undefined) kindsOfAddress.set(address, kindsOf(address) + 1);
      return true;
    },
    end,
  };
}

const keyOf = (event: string, details: Details): string => JSON.stringify([event, details]);
