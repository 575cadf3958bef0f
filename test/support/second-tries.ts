import type { Reporter, TestCase } from 'vitest/node';

/** Names each test that failed and passed when it was tried again, so that it is not taken for sound. */
export class SecondTries implements Reporter {
  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky)
      process.stdout.write(`Passed at the second try: ${test.module.relativeModuleId} > ${test.fullName}\n`);
  }
}
