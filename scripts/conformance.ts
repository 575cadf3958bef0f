import { parseArgs } from 'node:util';
import { limitsOf } from '../test/conformance/gateway-limits.ts';
import { type ClientAuthentication, runAuthorizationSuite } from '../test/support/suite/authorization.ts';
import type { CheckedScenario } from '../test/support/suite/checks.ts';
import { type ClientRun, clientRuns, clientSuites, runClientSuite } from '../test/support/suite/client.ts';
import { allGatewayRuns, backends, runGatewaySuite } from '../test/support/suite/gateway.ts';
import type { ScenarioOutcome } from '../test/support/suite/outcome.ts';
import { allRuns, type Revision, revisions, runServerSuite, servers } from '../test/support/suite/server.ts';

const help = `Runs the official MCP conformance suite against servers and a client of its own.

  scripts/conformance authorization
      The authorization server, with a client of each way to authenticate.
  scripts/conformance server [options]
      The suite's MCP server, served by Gatehouse: open, and behind the gate.
  scripts/conformance gateway [options]
      The suite's MCP server as a backend of Gatehouse, behind the gate. A scenario of which the backend cannot carry all
      checks is ok where exactly those do not succeed: test/conformance/gateway-limits.ts has them, with the reasons.
  scripts/conformance client [options]
      A client that does everything, on the library mcp-gatehouse/client, against the suite's servers.

Options of "server"; without one of a kind all of it is run:
  --requirements REVISION  ${revisions.join(' or ')}
  --server FORM            v2: SDK version 2, a server for each session and request
                           v2-shared: SDK version 2, one server for all
                           v1: SDK version 1, a server for each session (2025-11-25 alone)
                           v1-single: SDK version 1, one server brought ready-made (2025-11-25 alone)
  --open-only              not behind the gate
  --gated-only             behind the gate alone

Options of "gateway"; without one of a kind all of it is run:
  --requirements REVISION  ${revisions.join(' or ')}
  --backend KIND           ${Object.keys(backends).join(', ')}

Options of "client"; without one all that is required, and the extensions, is run:
  --requirements REVISION  ${revisions.join(' or ')}
  --suite NAME             ${clientSuites.join(', ')}

  --verbose                also what the suite itself prints
  --help

Ends with what passed. Exit code 0: all of it; 1: not all; 2: wrong arguments.`;

/** One run: in words, and how. */
interface Run {
  name: string;
  /** What of it is known not to succeed, in words. */
  limits?: string[];
  run: () => Promise<{ scenarios: (ScenarioOutcome | CheckedScenario)[]; passed: boolean; report: string }>;
}

class WrongArguments extends Error {}

const methods: readonly ClientAuthentication[] = ['none', 'client_secret_basic', 'client_secret_post'];

const authorizationRuns = methods.map((method) => ({
  name: `the authorization server, with a client that authenticates by ${method}`,
  run: () => runAuthorizationSuite(method),
}));

interface ServerChoice {
  requirements?: string | undefined;
  server?: string | undefined;
  'open-only'?: boolean | undefined;
  'gated-only'?: boolean | undefined;
}

interface ClientChoice {
  requirements?: string | undefined;
  suite?: string | undefined;
}

function serverRuns(choice: ServerChoice): Run[] {
  const { requirements, server } = choice;
  if (requirements !== undefined) requireRevision(requirements);
  if (server !== undefined && !Object.hasOwn(servers, server))
    throw new WrongArguments(`--server takes ${Object.keys(servers).join(', ')}.`);
  if (choice['open-only'] && choice['gated-only'])
    throw new WrongArguments('Choose --open-only or --gated-only, or neither to run both.');
  const chosen = allRuns().filter(
    (run) =>
      (requirements === undefined || run.revision === requirements) &&
      (server === undefined || run.server === server) &&
      !(choice['open-only'] && run.isGated) &&
      !(choice['gated-only'] && !run.isGated),
  );
  if (chosen.length === 0) throw new WrongArguments(`--server ${server} has no ${requirements}.`);
  return chosen.map((run) => ({
    name: `${run.revision}, server ${run.server}, ${run.isGated ? 'behind the gate' : 'open'}`,
    run: () => runServerSuite(run),
  }));
}

interface GatewayChoice {
  requirements?: string | undefined;
  backend?: string | undefined;
}

function gatewayRuns({ requirements, backend }: GatewayChoice): Run[] {
  if (requirements !== undefined) requireRevision(requirements);
  if (backend !== undefined && !Object.hasOwn(backends, backend))
    throw new WrongArguments(`--backend takes ${Object.keys(backends).join(', ')}.`);
  return allGatewayRuns()
    .filter(
      (run) =>
        (requirements === undefined || run.revision === requirements) &&
        (backend === undefined || run.backend === backend),
    )
    .map((run) => ({
      name: `${run.revision}, through the gateway to a backend by ${run.backend}`,
      limits: limitsOf(run).map(
        ({ scenario, checks, reason }) => `${scenario} without ${checks.join(', ')}: ${reason}`,
      ),
      run: () => runGatewaySuite(run, limitsOf(run)),
    }));
}

function requireRevision(requirements: string): Revision {
  const revision = revisions.find((known) => known === requirements);
  if (revision === undefined) throw new WrongArguments(`--requirements takes ${revisions.join(' or ')}.`);
  return revision;
}

function chooseClientRuns({ requirements, suite }: ClientChoice): readonly ClientRun[] {
  if (requirements !== undefined && suite !== undefined)
    throw new WrongArguments('Choose --requirements or --suite, or neither to run all.');
  if (requirements !== undefined) return [{ requirements: requireRevision(requirements) }];
  if (suite === undefined) return clientRuns;
  const known = clientSuites.find((name) => name === suite);
  if (known === undefined) throw new WrongArguments(`--suite takes ${clientSuites.join(', ')}.`);
  return [{ suite: known }];
}

function nameClientRun(run: ClientRun): string {
  return 'suite' in run ? `the client, suite ${run.suite}` : `the client, ${run.requirements}`;
}

/** The runs a part has, from its options; others are refused. */
function choose(part: string | undefined, choice: ServerChoice & ClientChoice & GatewayChoice): Run[] {
  const { suite, server, 'open-only': open, 'gated-only': gated, requirements, backend } = choice;
  if (backend !== undefined && part !== 'gateway') throw new WrongArguments('--backend is for "gateway".');
  const forServer = [server, open, gated].some((option) => option !== undefined);
  switch (part) {
    case 'authorization':
      if (forServer || suite !== undefined || requirements !== undefined)
        throw new WrongArguments('authorization takes no options but --verbose.');
      return authorizationRuns;
    case 'server':
      if (suite !== undefined) throw new WrongArguments('--suite is for "client".');
      return serverRuns(choice);
    case 'gateway':
      if (forServer || suite !== undefined)
        throw new WrongArguments('gateway takes --requirements or --backend.');
      return gatewayRuns(choice);
    case 'client':
      if (forServer) throw new WrongArguments('client takes --requirements or --suite.');
      return chooseClientRuns(choice).map((run) => ({
        name: nameClientRun(run),
        run: () => runClientSuite(run),
      }));
    default:
      throw new WrongArguments('Say authorization, server, gateway or client.');
  }
}

async function runAll(runs: readonly Run[], isVerbose: boolean): Promise<boolean> {
  const verdicts: string[] = [];
  let allPassed = true;
  for (const [at, { name, run, limits = [] }] of runs.entries()) {
    console.log(`\n[${at + 1}/${runs.length}] ${name}`);
    const { scenarios, passed, report } = await run();
    let good = 0;
    for (const scenario of scenarios) {
      const complaints = 'complaints' in scenario ? scenario.complaints : [];
      const isGood = scenario.passed > 0 && scenario.failed === 0 && complaints.length === 0;
      if (isGood) good++;
      console.log(
        `  ${isGood ? 'ok    ' : 'NOT ok'}  ${scenario.name} (${scenario.passed} checks passed, ${scenario.failed} failed)`,
      );
      for (const complaint of complaints) console.log(`            ${complaint}`);
    }
    for (const limit of limits) console.log(`  limit   ${limit}`);
    if (isVerbose || (!passed && good === scenarios.length)) console.log(report);
    verdicts.push(
      `${passed ? 'Passed    ' : 'NOT passed'}  ${name}: ${good} of ${scenarios.length} scenarios${limits.length > 0 ? `, ${limits.length} of them without the checks above` : ''}`,
    );
    allPassed &&= passed;
  }
  const count = verdicts.filter((verdict) => verdict.startsWith('Passed')).length;
  console.log(
    `\n${verdicts.join('\n')}\n\nThe official conformance suite: ${count} of ${runs.length} runs passed.`,
  );
  return allPassed;
}

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      requirements: { type: 'string' },
      server: { type: 'string' },
      suite: { type: 'string' },
      backend: { type: 'string' },
      'open-only': { type: 'boolean' },
      'gated-only': { type: 'boolean' },
      verbose: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const { help: _help, verbose = false, ...choice } = values;
  const [part, ...more] = positionals;
  if (more.length > 0) throw new WrongArguments('Say authorization, server, gateway or client.');
  return (await runAll(choose(part, choice), verbose)) ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  const isUsage =
    error instanceof WrongArguments ||
    (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));
  if (!isUsage) throw error;
  console.error(`${error.message}\n\n${help}`);
  process.exitCode = 2;
}
