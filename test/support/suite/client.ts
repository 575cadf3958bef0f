import { glob, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiledProgram } from '../compiled-programs.ts';
import { runProgram } from '../program.ts';
import { type CheckedScenario, readChecks, requiredScenarios, scenarioOf } from './checks.ts';
import { type SuiteOutcome, suiteProgram } from './outcome.ts';
import { type Revision, revisions } from './server.ts';
import { giveTurns } from './turns.ts';

/** Suites of scenarios for clients, besides what a revision requires. */
export const clientSuites = ['core', 'auth', 'metadata', 'backcompat', 'extensions', 'draft'] as const;

/** One run of the suite: what a revision requires of a client, or a suite of scenarios. */
export type ClientRun = { requirements: Revision } | { suite: (typeof clientSuites)[number] };

/** Every run that is to pass; together they have all scenarios but those of skills, an extension that is not spoken. */
export const clientRuns: readonly ClientRun[] = [
  ...revisions.map((requirements) => ({ requirements })),
  { suite: 'backcompat' },
  { suite: 'extensions' },
];

const everythingClient = compiledProgram(fileURLToPath(new URL('everything-client.ts', import.meta.url)));

/** Longest time of a client, waiting for its turn included. */
const timeoutMs = 240_000;

/** How many clients work at a time. */
const maxClients = 3;

/** @returns the word as a shell takes it; the suite hands the command to one */
function shellWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** No complaint: clients of 2026-07-28 send no `initialize`, so its headers are not looked at. */
const noComplaint =
  /^SKIPPED sep-2243-client-includes-standard-headers .* a (?:initialize|notifications\/initialized) request;/;

/** What the suite wrote for each scenario: `<name>-<time>/checks.json` and what the client printed. */
async function readClientChecks(folder: string): Promise<CheckedScenario[]> {
  const scenarios: CheckedScenario[] = [];
  for await (const file of glob('**/checks.json', { cwd: folder })) {
    const place = join(folder, dirname(file));
    const { complaints, ...counts } = await readChecks(join(place, 'checks.json'));
    const isThrough = (await readFile(join(place, 'stdout.txt'), 'utf8')).endsWith('finished\n');
    const errors = isThrough ? '' : await readFile(join(place, 'stderr.txt'), 'utf8');
    scenarios.push({
      name: scenarioOf(relative(folder, place)),
      ...counts,
      complaints: [
        ...complaints.filter((complaint) => !noComplaint.test(complaint)),
        ...(isThrough ? [] : [`The client did not get through: ${errors}`]),
      ],
    });
  }
  return scenarios.sort((one, other) => one.name.localeCompare(other.name));
}

/**
 * Runs the official suite for clients with this product's client. It passes when every scenario passed a check and none
 * failed, warned or skipped one, and the client got through each, or stopped for the right reason where it has to.
 * @param run which scenarios
 */
export async function runClientSuite(run: ClientRun): Promise<SuiteOutcome<CheckedScenario>> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-conformance-'));
  const turns = await giveTurns(maxClients);
  try {
    const command = [process.execPath, everythingClient].map(shellWord).join(' ');
    const chosen = 'suite' in run ? ['--suite', run.suite] : ['--requirements', run.requirements];
    const program = runProgram(
      suiteProgram,
      ['client', '--command', command, ...chosen, '--timeout', String(timeoutMs), '--output-dir', folder],
      { input: '', env: turns.env },
    );
    const code = await program.ended;
    const scenarios = await readClientChecks(folder);
    const ran = new Set(scenarios.map(({ name }) => name));
    const required = 'suite' in run ? [] : await requiredScenarios(run.requirements, 'client');
    return {
      scenarios,
      passed:
        code === 0 &&
        scenarios.length > 0 &&
        required.every((name) => ran.has(name)) &&
        scenarios.every(({ passed, complaints }) => passed > 0 && complaints.length === 0),
      report: `${program.written.stdout}${program.written.stderr}`,
    };
  } finally {
    await turns.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
