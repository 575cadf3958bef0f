import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from '../program.ts';
import { type ScenarioOutcome, suitePackage } from './outcome.ts';

/** A scenario for servers. Its summary says nothing of warnings and of checks that were skipped; this does. */
export interface ServerScenario extends ScenarioOutcome {
  /** Ids of checks that failed, that warned, and that were skipped, each with what the suite said. */
  complaints: string[];
}

interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
}

/** Reads what the suite wrote for each scenario: `server-<name>-<time>/checks.json`. */
export async function readChecks(folder: string): Promise<ServerScenario[]> {
  const entries = await readdir(folder);
  return Promise.all(
    entries.map(async (entry) => {
      const checks = JSON.parse(await readFile(join(folder, entry, 'checks.json'), 'utf8')) as Check[];
      const count = (status: Check['status']): number =>
        checks.filter((check) => check.status === status).length;
      return {
        name: entry.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ''),
        passed: count('SUCCESS'),
        failed: count('FAILURE'),
        complaints: checks
          .filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO')
          .map(({ id, status, errorMessage = '' }) => `${status} ${id} ${errorMessage}`.trim()),
      };
    }),
  );
}

/** Names of the scenarios the suite requires of a server of a revision. */
export async function requiredScenarios(revision: string): Promise<string[]> {
  const list = await readFile(join(repository, suitePackage, 'requirements', `${revision}.yaml`), 'utf8');
  const [, names = ''] = /^server:\n((?: {2}- \S+\n)+)/m.exec(list) ?? [];
  return [...names.matchAll(/- (\S+)/g)].map(([, name = '']) => name);
}
