import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GatehouseOptions } from '../../../src/index.ts';
import type { ProtectedServer } from '../../../src/protected-server.ts';
import { createConformanceServer } from '../conformance-server/server.ts';
import { createConformanceServerV1 } from '../conformance-server-v1/server.ts';
import { startGatehouse } from '../gatehouse.ts';
import { obtainTokens } from '../oauth.ts';
import { runProgram } from '../program.ts';
import { startRelay } from '../relay.ts';
import { type CheckedScenario, readServerChecks, requiredScenarios } from './checks.ts';
import { serveOpen } from './open-endpoint.ts';
import { type SuiteOutcome, suiteProgram } from './outcome.ts';

/** The revisions the suite has a list of requirements for. */
export const revisions = ['2025-11-25', '2026-07-28'] as const;

/** A revision the suite has a list of requirements for. */
export type Revision = (typeof revisions)[number];

/** What the suite’s server is called, and its scope. */
export const about = {
  name: 'Conformance test server',
  scopes: { 'suite:run': 'Run the conformance suite.' },
};

/** The suite's server in every form it can be brought in, and the revisions each form is for. */
export const servers = {
  v2: { revisions, bring: () => ({ ...about, create: createConformanceServer }) },
  'v2-shared': {
    revisions,
    bring: () => ({ ...about, create: createConformanceServer, sharing: 'shared' }),
  },
  v1: { revisions: ['2025-11-25'], bring: () => ({ ...about, create: createConformanceServerV1 }) },
  'v1-single': { revisions: ['2025-11-25'], bring: () => ({ ...about, mcp: createConformanceServerV1() }) },
} as const satisfies Record<string, { revisions: readonly Revision[]; bring: () => ProtectedServer }>;

/** One run of the suite. */
export interface ServerRun {
  revision: Revision;
  server: keyof typeof servers;
  /** Whether an access token is asked for. */
  isGated: boolean;
}

/** Scenarios of extensions that are not served; the suite runs them and does not count them. */
const notServed = /^(tasks|sep-2640)-/;

/** Every run that is to pass. */
export function allRuns(): ServerRun[] {
  return Object.entries(servers).flatMap(([server, { revisions }]) =>
    revisions.flatMap((revision) =>
      [false, true].map((isGated) => ({ revision, server: server as keyof typeof servers, isGated })),
    ),
  );
}

/** A URL for the suite to examine. */
export interface Target {
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts a gatehouse with this server, or backend. The suite cannot log in, so a relay in front adds the access token of
 * a client that did.
 * @param scope what the client asks for
 */
export async function serveGated(
  options: Pick<GatehouseOptions, 'server' | 'backend'>,
  scope: string,
): Promise<Target> {
  let accessToken: string | undefined;
  const relay = await startRelay({
    headers: (headers) =>
      accessToken === undefined ? headers : { ...headers, authorization: `Bearer ${accessToken}` },
  });
  const gatehouse = await startGatehouse({ publicUrl: relay.url, ...options });
  relay.relayTo(Number(new URL(gatehouse.listensAt).port));
  const { tokens } = await obtainTokens(gatehouse, { scope, scopes: [scope] });
  accessToken = tokens.access_token;
  return {
    url: gatehouse.mcpUrl,
    async stop() {
      await relay.stop();
      await gatehouse.stop();
    },
  };
}

/** What the suite said of a target, and what it requires of every server of the revision. */
export interface Examination {
  /** Those of extensions that are not served are left out. */
  scenarios: CheckedScenario[];
  required: string[];
  /** The exit code of the suite. */
  code: number | null;
  report: string;
}

/** Runs what the official suite requires of a server of one revision, and all it runs beside that. */
export async function examineServer(url: string, revision: Revision): Promise<Examination> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-conformance-'));
  try {
    const program = runProgram(
      suiteProgram,
      ['server', '--url', url, '--requirements', revision, '--output-dir', folder],
      { input: '' },
    );
    const code = await program.ended;
    const scenarios = (await readServerChecks(folder)).filter(({ name }) => !notServed.test(name));
    const required = await requiredScenarios(revision, 'server');
    return { scenarios, required, code, report: `${program.written.stdout}${program.written.stderr}` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Whether a scenario passed a check, and none failed, warned or was skipped. */
export function isSound({ passed, complaints }: CheckedScenario): boolean {
  return passed > 0 && complaints.length === 0;
}

/**
 * Examines the suite's own server served by Gatehouse. It passes when every scenario passed a check and none failed,
 * warned or skipped one.
 */
export async function runServerSuite({
  revision,
  server,
  isGated,
}: ServerRun): Promise<SuiteOutcome<CheckedScenario>> {
  const brought = servers[server].bring();
  const target = await (isGated
    ? serveGated({ server: brought }, Object.keys(about.scopes).join(' '))
    : serveOpen(brought));
  try {
    const { scenarios, required, code, report } = await examineServer(target.url, revision);
    const ran = new Set(scenarios.map(({ name }) => name));
    return {
      scenarios,
      passed:
        code === 0 &&
        required.length > 0 &&
        required.every((name) => ran.has(name)) &&
        scenarios.every(isSound),
      report,
    };
  } finally {
    await target.stop();
  }
}
