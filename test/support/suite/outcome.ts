/** What the official suite said. */
export interface SuiteOutcome {
  /** Each scenario and how many of its checks passed and failed. */
  scenarios: { name: string; passed: number; failed: number }[];
  /** Whether it ran what is expected of it, and nothing that counts failed. */
  passed: boolean;
  /** All it printed. */
  report: string;
}

/** The suite's program, from the repository's root. */
export const suiteProgram = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';

/** Reads the summary of a run. */
export function readScenarios(report: string): SuiteOutcome['scenarios'] {
  return [...report.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed$/gm)].map(
    ([, name = '', passed, failed]) => ({ name, passed: Number(passed), failed: Number(failed) }),
  );
}
