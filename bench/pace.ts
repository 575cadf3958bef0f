/** How long and how often something is measured. */
export interface Pace {
  warmUpSeconds: number;
  seconds: number;
  /** Rounds; every server has its turn in each, so that all see the same weather. */
  rounds: number;
  /** Sessions of the memory rows. */
  heldSessions: number;
  /** People at a gateway. */
  people: number;
  /** Codes that are redeemed in one turn. They are got before it, and live for a minute. */
  codes: number;
}

/** For numbers to keep: about three quarters of an hour. */
export const steady: Pace = {
  warmUpSeconds: 3,
  seconds: 4,
  rounds: 3,
  heldSessions: 5000,
  people: 200,
  codes: 1600,
};

/** For a first look: about seven minutes. */
export const quick: Pace = {
  warmUpSeconds: 2,
  seconds: 2,
  rounds: 1,
  heldSessions: 500,
  people: 40,
  codes: 400,
};
