import type { Finding } from '../../../../src/doctor/check.ts';
import { examine } from '../../../../src/doctor/examine.ts';
import { activeSections, headlessLogin } from '../../../doctor/support/login.ts';
import { runGatehouse } from '../../../support/served.ts';
import { sayYes } from './person.ts';

/** Findings that speak up, as `verdict id`, sorted. What this machine is like is no matter of a peer. */
function spokenUp(findings: readonly Finding[]): string[] {
  return findings
    .filter(({ verdict, section }) => ['warn', 'fail'].includes(verdict) && section !== 'machine')
    .map(({ verdict, id }) => `${verdict} ${id}`)
    .sort();
}

/** `gatehouse doctor URL --json`. */
export async function examinePassively(url: string): Promise<{ code: number | null; found: string[] }> {
  const { code, stdout } = await runGatehouse(['doctor', url, '--json']);
  return { code, found: spokenUp((JSON.parse(stdout) as { findings: Finding[] }).findings) };
}

/**
 * What `gatehouse doctor --active` does beyond that, by the library: registers, and logs in with a person who agrees.
 * @param url URL of the MCP server
 */
export async function examineActively(url: string): Promise<string[]> {
  const report = await examine({
    url,
    fetch: globalThis.fetch,
    now: () => Math.floor(Date.now() / 1000),
    timeoutMs: 10_000,
    checks: activeSections,
    active: true,
    login: headlessLogin({ consent: sayYes, reuseAfterSeconds: [0, 2.5] }),
  });
  return spokenUp(report.findings);
}
