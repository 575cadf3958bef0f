/** What came of many calls. */
export interface Tally {
  /** Calls that got their own answer. */
  answered: number;
  /** Progress, log messages and questions that reached the caller they were about. */
  progress: number;
  logged: number;
  asked: number;
  /** What should not have been, the first twenty in words. */
  wrong: string[];
  wrongCount: number;
}

/** A tally of nothing yet. */
export function newTally(): Tally {
  return { answered: 0, progress: 0, logged: 0, asked: 0, wrong: [], wrongCount: 0 };
}

/** Notes something that should not have been. */
export function noteWrong(tally: Tally, words: string): void {
  tally.wrongCount++;
  if (tally.wrong.length < 20) tally.wrong.push(words);
}
