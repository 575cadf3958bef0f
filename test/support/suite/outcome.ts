/** One scenario, and what became of its checks. */
export interface ScenarioOutcome {
  name: string;
  passed: number;
  failed: number;
}

/** What the official suite said. */
export interface SuiteOutcome<Scenario extends ScenarioOutcome = ScenarioOutcome> {
  scenarios: Scenario[];
  /** Whether it ran what is expected of it, and nothing that counts failed. */
  passed: boolean;
  /** All it printed. */
  report: string;
}

/** The suite's package, from the repository's root. */
export const suitePackage = 'node_modules/@modelcontextprotocol/conformance';

/** The suite's program, from the repository's root. */
export const suiteProgram = `${suitePackage}/dist/index.js`;

/** Reads the summary of a run. */
export function readScenarios(report: string): ScenarioOutcome[] {
  return [...report.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed$/gm)].map(
    ([, name = '', passed, failed]) => ({ name, passed: Number(passed), failed: Number(failed) }),
  );
}
