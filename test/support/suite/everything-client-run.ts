import {
  ClientError,
  type ClientErrorReason,
  createMemoryStore,
  withAuthorization,
  withMcpConnection,
} from '../../../src/client/index.ts';
import { chooseAuthorizer, type ScenarioContext } from './everything-client-login.ts';
import { scenarioWork } from './everything-client-work.ts';

/** Why the client has to stop in scenarios whose servers must not be trusted, or followed without end. */
const refusals: Record<string, ClientErrorReason> = {
  'auth/resource-mismatch': 'resource_mismatch',
  'auth/metadata-issuer-mismatch': 'issuer_mismatch',
  'auth/iss-supported-missing': 'issuer_mismatch',
  'auth/iss-wrong-issuer': 'issuer_mismatch',
  'auth/iss-unexpected': 'issuer_mismatch',
  'auth/iss-normalized': 'issuer_mismatch',
  'auth/scope-retry-limit': 'insufficient_scope',
};

function reasonOf(error: unknown): ClientErrorReason | undefined {
  if (error instanceof ClientError) return error.reason;
  return error instanceof Error ? reasonOf(error.cause) : undefined;
}

async function goThrough(url: string, scenario: string, given: ScenarioContext): Promise<void> {
  const context = { fetch: globalThis.fetch, now: () => Math.floor(Date.now() / 1000) };
  const store = createMemoryStore();
  const authorizer = await chooseAuthorizer(context, store, scenario, given);
  const fetch = withAuthorization(context, url, store, { authorizer });
  const { prepare, work, capabilities } = scenarioWork(scenario, given);
  const clientInfo = { name: 'gatehouse-conformance', version: '1.0.0' };
  await withMcpConnection({ url, fetch, clientInfo, client: { capabilities }, prepare }, work);
}

/**
 * The client that the official conformance suite starts for each scenario, with the URL of its server as the last
 * argument. All of discovery, registration, login and tokens is the library's; what an MCP message looks like is the
 * MCP SDK's; only what a person would do stands here. It says at its end that it came as far as it has to.
 */
async function main(): Promise<void> {
  const url = process.argv.at(-1) ?? '';
  const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
  const given = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as ScenarioContext;
  const expected = refusals[scenario];
  const outcome = goThrough(url, scenario, given).then(() => undefined);
  const reason = await (expected === undefined ? outcome : outcome.catch(reasonOf));
  if (reason !== expected) throw new Error(`It had to stop with ${expected}, and did with ${reason}.`);
  console.log('finished');
}

await main();
