import { conformanceServer } from '../conformance-server/server.ts';
import { startGatehouse } from '../gatehouse.ts';
import { obtainTokens } from '../oauth.ts';
import { runProgram } from '../program.ts';
import { startRelay } from '../relay.ts';
import { readScenarios, type SuiteOutcome, suiteProgram } from './outcome.ts';

/** The revisions the suite has a list of requirements for. */
export const revisions = ['2025-11-25', '2026-07-28'] as const;

/**
 * Runs what the official suite requires of a server of one revision, against the MCP endpoint of a gatehouse that
 * protects the suite's server. The suite cannot log in, so a relay in front adds the access token of a client that did.
 */
export async function runServerSuite(revision: (typeof revisions)[number]): Promise<SuiteOutcome> {
  let accessToken: string | undefined;
  const relay = await startRelay({
    headers: (headers) =>
      accessToken === undefined ? headers : { ...headers, authorization: `Bearer ${accessToken}` },
  });
  const gatehouse = await startGatehouse({ publicUrl: relay.url, server: conformanceServer });
  try {
    relay.relayTo(Number(new URL(gatehouse.listensAt).port));
    const scope = 'suite:run';
    const { tokens } = await obtainTokens(gatehouse, { scope, scopes: [scope] });
    accessToken = tokens.access_token;
    const program = runProgram(
      suiteProgram,
      ['server', '--url', gatehouse.mcpUrl, '--requirements', revision],
      { input: '' },
    );
    const code = await program.ended;
    const report = `${program.written.stdout}${program.written.stderr}`;
    const scenarios = readScenarios(report);
    return { scenarios, passed: code === 0 && scenarios.length > 0, report };
  } finally {
    await relay.stop();
    await gatehouse.stop();
  }
}
