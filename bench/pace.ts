/** How long and how often something is measured. */
export interface Pace {
  warmUpSeconds: number;
  seconds: number;
  /** Rounds; every server has its turn in each, so that all see the same weather. */
  rounds: number;
  /** Sessions of the memory rows. */
  heldSessions: number;
}

/** For numbers to keep: about ten minutes. */
export const steady: Pace = { warmUpSeconds: 3, seconds: 4, rounds: 3, heldSessions: 5000 };

/** For a first look: about two minutes. */
export const quick: Pace = { warmUpSeconds: 2, seconds: 2, rounds: 1, heldSessions: 500 };
