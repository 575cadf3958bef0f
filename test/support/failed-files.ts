import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * Writes the files in which something failed, one path a line, to the file that `GATEHOUSE_FAILED_FILES` names, for
 * `scripts/test` to run them once more by themselves. Writes nothing if the run ended by an error outside of any file.
 */
export class FailedFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const path = process.env.GATEHOUSE_FAILED_FILES;
    if (path === undefined || errors.length > 0) return;
    const failed = modules.filter((module) => !module.ok()).map((module) => module.relativeModuleId);
    writeFileSync(path, failed.map((file) => `${file}\n`).join(''));
  }
}
