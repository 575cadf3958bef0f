import type { Reporter, TestCase } from 'vitest/node';

/** Names, at the end, each test that failed and passed when it was tried again, so that it is not taken for sound. */
export class SecondTries implements Reporter {
  readonly #names: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#names.push(`${test.module.relativeModuleId} > ${test.fullName}`);
  }

  onTestRunEnd(): void {
    for (const name of this.#names) process.stdout.write(`Passed at the second try: ${name}\n`);
  }
}
