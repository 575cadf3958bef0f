import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from '../program.ts';
import { type ScenarioOutcome, suitePackage } from './outcome.ts';

/** A scenario with all its checks. Its summary says nothing of warnings and of checks that were skipped; this does. */
export interface CheckedScenario extends ScenarioOutcome {
  /** Ids of checks that failed, that warned, and that were skipped, each with what the suite said. */
  complaints: string[];
}

interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
}

/** Reads the checks of one scenario. */
export async function readChecks(file: string): Promise<Omit<CheckedScenario, 'name'>> {
  const checks = JSON.parse(await readFile(file, 'utf8')) as Check[];
  const count = (status: Check['status']): number => checks.filter((check) => check.status === status).length;
  return {
    passed: count('SUCCESS'),
    failed: count('FAILURE'),
    complaints: checks
      .filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO')
      .map(({ id, status, errorMessage = '' }) => `${status} ${id} ${errorMessage}`.trim()),
  };
}

/** @returns the name of a scenario, from the folder the suite made for it: `<name>-<time>` */
export function scenarioOf(folder: string): string {
  return folder.replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
}

/** Reads what the suite wrote for each scenario of servers: `server-<name>-<time>/checks.json`. */
export async function readServerChecks(folder: string): Promise<CheckedScenario[]> {
  const entries = await readdir(folder);
  return Promise.all(
    entries.map(async (entry) => ({
      name: scenarioOf(entry.replace(/^server-/, '')),
      ...(await readChecks(join(folder, entry, 'checks.json'))),
    })),
  );
}

/** Names of the scenarios the suite requires of a server or a client of a revision. */
export async function requiredScenarios(revision: string, of: 'server' | 'client'): Promise<string[]> {
  const list = await readFile(join(repository, suitePackage, 'requirements', `${revision}.yaml`), 'utf8');
  const [, names = ''] = new RegExp(`^${of}:\\n((?: {2}- \\S+\\n)+)`, 'm').exec(list) ?? [];
  return [...names.matchAll(/- (\S+)/g)].map(([, name = '']) => name);
}
