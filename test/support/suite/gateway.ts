import type { GatehouseOptions } from '../../../src/index.ts';
import { type HostedServer, hostModern, hostSse, hostStreamableHttp } from '../conformance-backends/http.ts';
import { createOlderServer } from '../conformance-backends/older-server.ts';
import { nodeProgram } from '../node-program.ts';
import type { CheckedScenario } from './checks.ts';
import { serveOpen } from './open-endpoint.ts';
import type { SuiteOutcome } from './outcome.ts';
import { about, examineServer, type Revision, revisions, serveGated } from './server.ts';

/** The suite's server, where it stands behind the gate. */
interface Standing {
  backend: NonNullable<GatehouseOptions['backend']>;
  stop(): Promise<void>;
}

function byProgram(file: string): Promise<Standing> {
  return Promise.resolve({
    backend: nodeProgram(`test/support/conformance-backends/${file}`),
    stop: async () => undefined,
  });
}

async function byUrl(transport: 'http' | 'sse' | 'rest', hosted: Promise<HostedServer>): Promise<Standing> {
  const { url, stop } = await hosted;
  return { backend: { url, transport }, stop };
}

/** Nobody else's server speaks Rest: it is Gatehouse's own front, without its gate. */
async function hostRest(): Promise<HostedServer> {
  const open = await serveOpen({ ...about, create: createOlderServer });
  return { url: open.restUrl, stop: open.stop };
}

/** The kinds of backends, and how the suite's server is started as one. */
export const backends = {
  stdio: () => byProgram('stdio.ts'),
  'modern-stdio': () => byProgram('modern-stdio.ts'),
  http: () => byUrl('http', hostStreamableHttp(createOlderServer)),
  modern: () => byUrl('http', hostModern()),
  sse: () => byUrl('sse', hostSse(createOlderServer)),
  rest: () => byUrl('rest', hostRest()),
} as const satisfies Record<string, () => Promise<Standing>>;

/** A kind of backend. */
export type BackendKind = keyof typeof backends;

/** One run of the suite through the gateway. */
export interface GatewayRun {
  backend: BackendKind;
  revision: Revision;
}

/** Checks of a required scenario that are not to succeed, and why. */
export interface Limit {
  scenario: string;
  checks: readonly string[];
}

/** Every run that is to pass. */
export function allGatewayRuns(): GatewayRun[] {
  return (Object.keys(backends) as BackendKind[]).flatMap((backend) =>
    revisions.map((revision) => ({ backend, revision })),
  );
}

/** A process that has to be started for a call is later than the suite waits in one place. */
async function warm(url: string): Promise<void> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
    'io.modelcontextprotocol/clientInfo': { name: 'warm', version: '1' },
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/list',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } }),
  });
  if (!response.ok) throw new Error(`the gateway answers ${response.status}: ${await response.text()}`);
  await response.text();
}

/** What of the checks of a scenario is not as it is to be; undefined where all is. */
function unexpected(scenario: CheckedScenario | undefined, checks: readonly string[] | undefined): string[] {
  if (!scenario) return ['did not run'];
  const { passed, complaints } = scenario;
  if (!checks) return passed > 0 ? complaints : ['has no check that succeeds', ...complaints];
  const failed = new Set(complaints.map((complaint) => complaint.split(' ')[1]));
  const succeeds = checks.filter((id) => !failed.has(id)).map((id) => `${id} succeeds: take it off the list`);
  const others = complaints.filter((complaint) => !checks.some((id) => complaint.split(' ')[1] === id));
  return [...succeeds, ...others];
}

/**
 * Runs what the official suite requires of a server of one revision against its own server behind the gate. It passes
 * when all passes but what the backend cannot carry, and that does not.
 * @param limits what the backend cannot carry
 * @returns as scenarios the required ones, whose complaints are what is not as it is to be
 */
export async function runGatewaySuite(
  { backend, revision }: GatewayRun,
  limits: readonly Limit[],
): Promise<SuiteOutcome<CheckedScenario>> {
  const standing = await backends[backend]();
  const target = await serveGated({ backend: standing.backend }, 'mcp');
  try {
    await warm(target.url);
    const { scenarios, required, report } = await examineServer(target.url, revision);
    const judged = required.map((name) => {
      const scenario = scenarios.find((one) => one.name === name);
      const checks = limits.find((limit) => limit.scenario === name)?.checks;
      const complaints = unexpected(scenario, checks);
      return { name, passed: scenario?.passed ?? 0, failed: complaints.length, complaints };
    });
    const passed = judged.length > 0 && judged.every(({ failed }) => failed === 0);
    return { scenarios: judged, passed, report };
  } finally {
    await target.stop();
    await standing.stop();
  }
}
