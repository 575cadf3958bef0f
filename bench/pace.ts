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
  /** Maximum number of codes that are redeemed in one turn. They are got before it, and live for a minute. */
  codes: number;
}

/**
 * For numbers to keep: nearly two hours. On one core V8 needs ten seconds and more under load until what is called
 * often is compiled; its own threads take the core from requests until then. A shared machine is faster and slower by half
 * for some seconds at a time, which hardly moves the middle of seven rounds.
 */
export const steady: Pace = {
  warmUpSeconds: 12,
  seconds: 4,
  rounds: 7,
  heldSessions: 5000,
  people: 200,
  codes: 1600,
};

/** For a first look: about ten minutes. */
export const quick: Pace = {
  warmUpSeconds: 2,
  seconds: 2,
  rounds: 1,
  heldSessions: 500,
  people: 40,
  codes: 400,
};
