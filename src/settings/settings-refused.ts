/** Settings that cannot be used; every problem is named at once. */
export class SettingsRefused extends Error {
  override name = 'SettingsRefused';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The settings cannot be used:\n${problems.map((problem) => `- ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * Makes all of something that settings ask for.
 * @returns what they made, in their order
 * @throws SettingsRefused with the problems of all that are refused; what others throw, at once
 */
export function makeAll<T>(makes: readonly (() => T)[]): T[] {
  const problems: string[] = [];
  const made = makes.flatMap((make) => {
    try {
      return [make()];
    } catch (error) {
      if (!(error instanceof SettingsRefused)) throw error;
      problems.push(...error.problems);
      return [];
    }
  });
  if (problems.length > 0) throw new SettingsRefused(problems);
  return made;
}
