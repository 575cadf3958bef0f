import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take a minute and more. On a new checkout nothing is known of how long a file takes, and the others are
 * sorted by their size, which says little of these: one that begins last is waited for by all.
 */
const longest: readonly string[] = [
  'browser/pages',
  'conformance/suite',
  'conformance/client-suite',
  'conformance/gateway',
  'flows/peers/peers',
  'flows/proxies/examples',
  'flows/profiles/profiles',
  'house/package',
  'flows/features/passage',
  'flows/token/formats-endings',
  'flows/upstream/misbehaviour',
  'flows/proxies/streams',
  'storage/sqlite/connection/migrate',
  'cli/commands/server/stdio',
].map((name) => `/test/${name}.test.ts`);

const gone = longest.filter((name) => !existsSync(join(import.meta.dirname, '../..', name)));
if (gone.length > 0) throw new Error(`No such test files: ${gone.join(', ')}`);

function placeOf({ moduleId }: TestSpecification): number {
  const place = longest.findIndex((name) => moduleId.endsWith(name));
  return place === -1 ? longest.length : place;
}

/** Begins with the files that take longest. Files of a project follow each other, as they may share processes. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => placeOf(a) - placeOf(b) || a.project.name.localeCompare(b.project.name));
  }
}
