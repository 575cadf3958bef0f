import { type ClientAuthentication, runAuthorizationSuite } from '../test/support/suite/authorization.ts';
import type { SuiteOutcome } from '../test/support/suite/outcome.ts';
import { revisions, runServerSuite } from '../test/support/suite/server.ts';

interface Run {
  /** What is run, in words. */
  name: string;
  run: () => Promise<SuiteOutcome>;
}

const methods: readonly ClientAuthentication[] = ['none', 'client_secret_basic', 'client_secret_post'];

const parts: Record<string, readonly Run[]> = {
  authorization: methods.map((method) => ({
    name: `the authorization server, with a client that authenticates by ${method}`,
    run: () => runAuthorizationSuite(method),
  })),
  server: revisions.map((revision) => ({
    name: `the protected MCP endpoint, with all that ${revision} requires`,
    run: () => runServerSuite(revision),
  })),
};

async function runAll(runs: readonly Run[]): Promise<boolean> {
  const verdicts: string[] = [];
  let allPassed = true;
  for (const { name, run } of runs) {
    const { passed, report } = await run();
    console.log(`\n##### ${name}\n${report}`);
    verdicts.push(`${passed ? 'Passed    ' : 'NOT passed'}  ${name}`);
    allPassed &&= passed;
  }
  console.log(`\nThe official conformance suite:\n${verdicts.join('\n')}`);
  return allPassed;
}

const [part = '', ...rest] = process.argv.slice(2);
const runs = Object.hasOwn(parts, part) ? parts[part] : undefined;
if (runs === undefined || rest.length > 0) {
  console.error('Usage: scripts/conformance authorization|server');
  process.exitCode = 2;
} else {
  process.exitCode = (await runAll(runs)) ? 0 : 1;
}
