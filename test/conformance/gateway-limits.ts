import type { GatewayRun } from '../support/suite/gateway.ts';

/** What a backend cannot carry, of what the official suite requires of servers of a revision. */
export interface GatewayLimit {
  revision: GatewayRun['revision'];
  backends: readonly GatewayRun['backend'][];
  scenario: string;
  /** Ids of the checks that do not succeed; all others do. None where the scenario has no check that succeeds. */
  checks: readonly string[];
  reason: string;
}

const ofLegacyEra = ['stdio', 'http'] as const;

/** All of it. What stands here and passes by now fails the test, as what fails and does not stand here. */
export const gatewayLimits: readonly GatewayLimit[] = [
  {
    revision: '2026-07-28',
    backends: ofLegacyEra,
    scenario: 'input-required-result-basic-elicitation',
    checks: ['sep-2322-elicitation-incomplete'],
    reason:
      'wants the question under a name of the server; a server of the legacy era asks by requests, which have no names',
  },
  {
    revision: '2026-07-28',
    backends: ofLegacyEra,
    scenario: 'input-required-result-ignore-extra-params',
    checks: ['sep-2322-ignore-unexpected-params'],
    reason: 'answers under a name of the server from the start, as above',
  },
  {
    revision: '2026-07-28',
    backends: ofLegacyEra,
    scenario: 'server-stateless',
    checks: ['sep-2575-server-rejects-undeclared-capability', 'sep-2575-missing-capability-http-400'],
    reason:
      'wants -32021 from a tool that needs what the client did not declare; a server of the legacy era knows no such error, is told what the client declared, and answers the call itself',
  },
];

/** Gives the limits of one run. */
export function limitsOf({ backend, revision }: GatewayRun): GatewayLimit[] {
  return gatewayLimits.filter((limit) => limit.revision === revision && limit.backends.includes(backend));
}
