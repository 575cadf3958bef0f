import type { Finding } from '../../../src/doctor/check.ts';
import { chooseProfiles, profileChecks } from '../../../src/doctor/profiles/profile-checks.ts';
import { examined } from '../support/examine.ts';
import { type Fault, startServer, type TestServer } from '../support/server.ts';

/**
 * Walks clients to a server with one fault.
 * @param names of the clients
 * @param options `active` tries registrations
 */
export async function walked(
  names: readonly string[],
  options: {
    fault?: Fault;
    issuerPath?: string;
    active?: boolean;
    url?: (server: TestServer) => string;
  } = {},
): Promise<{
  server: TestServer;
  findings: readonly Finding[];
  verdicts: Record<string, string>;
  finding: Finding;
}> {
  const { fault, issuerPath, active = false, url = (server) => server.url } = options;
  const server = await startServer({
    ...(fault === undefined ? {} : { fault }),
    ...(issuerPath === undefined ? {} : { issuerPath }),
  });
  const { findings } = await examined(url(server), profileChecks(chooseProfiles(names)), { active });
  const [finding] = findings;
  if (finding === undefined) throw new Error('no client walked');
  const verdicts = Object.fromEntries(findings.map(({ id, verdict }) => [id, verdict]));
  return { server, findings, verdicts, finding };
}
