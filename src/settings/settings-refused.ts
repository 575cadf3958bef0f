/** Settings that cannot be used; every problem is named at once. */
export class SettingsRefused extends Error {
  override name = 'SettingsRefused';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The settings cannot be used:\n${problems.map((problem) => `- ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}
