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

type Rows = readonly (readonly [scenario: string, ...checks: string[]])[];

const by =
  (...backends: GatewayRun['backend'][]) =>
  (revision: GatewayLimit['revision'], reason: string, rows: Rows): GatewayLimit[] =>
    rows.map(([scenario, ...checks]) => ({ revision, backends, scenario, checks, reason }));
const byRest = by('rest');
const byModernHttp = by('modern');
const byModern = by('modern', 'modern-stdio');

const older = ['stdio', 'http', 'sse'] as const;
const nothingAsked = 'over Rest a server cannot ask its client anything';
const nothingTold = 'over Rest a server tells nothing but answers';
const refusedByItself =
  'wants -32021 from a tool that needs what the client did not declare; a server of the legacy era knows no such error, is told what the client declared, and answers the call itself';

/** All of it. What stands here and passes by now fails the test, as what fails and does not stand here. */
export const gatewayLimits: readonly GatewayLimit[] = [
  {
    revision: '2026-07-28',
    backends: older,
    scenario: 'input-required-result-basic-elicitation',
    checks: ['sep-2322-elicitation-incomplete'],
    reason:
      'wants the question under a name of the server; a server of the legacy era asks by requests, which have no names',
  },
  {
    revision: '2026-07-28',
    backends: older,
    scenario: 'input-required-result-ignore-extra-params',
    checks: ['sep-2322-ignore-unexpected-params'],
    reason:
      'answers under a name of the server before it asked; a server of the legacy era has no such names',
  },
  {
    revision: '2026-07-28',
    backends: older,
    scenario: 'server-stateless',
    checks: ['sep-2575-server-rejects-undeclared-capability', 'sep-2575-missing-capability-http-400'],
    reason: refusedByItself,
  },
  ...byModern(
    '2025-11-25',
    'the tools of the scenario ask by requests, which a server of 2026-07-28 has not',
    [
      ['tools-call-sampling', 'tools-call-sampling'],
      ['tools-call-elicitation', 'tools-call-elicitation'],
      ['elicitation-sep1034-defaults', 'elicitation-sep1034-general'],
      ['elicitation-sep1330-enums', 'elicitation-sep1330-general'],
    ],
  ),
  ...byModernHttp(
    '2026-07-28',
    'the server stands in the SDK’s handler, which makes one for each request: it tells nobody what another changed',
    [
      [
        'server-stateless',
        'sep-2575-server-sends-prompts-list-changed-on-subscription',
        'sep-2575-server-sends-tools-list-changed-on-subscription',
      ],
    ],
  ),
  ...byRest('2025-11-25', nothingTold, [
    ['logging-set-level', 'logging-set-level'],
    ['tools-call-with-logging', 'tools-call-with-logging'],
    ['tools-call-with-progress', 'tools-call-with-progress'],
    ['resources-subscribe', 'resources-subscribe'],
    ['resources-unsubscribe', 'resources-unsubscribe'],
  ]),
  ...byRest('2025-11-25', nothingAsked, [
    ['tools-call-sampling', 'tools-call-sampling'],
    ['tools-call-elicitation', 'tools-call-elicitation'],
    ['elicitation-sep1034-defaults', 'elicitation-sep1034-general'],
    ['elicitation-sep1330-enums', 'elicitation-sep1330-general'],
  ]),
  ...byRest('2026-07-28', `${refusedByItself}; ${nothingTold}, list changes not either`, [
    [
      'server-stateless',
      'sep-2575-server-rejects-undeclared-capability',
      'sep-2575-missing-capability-http-400',
      'sep-2575-server-sends-prompts-list-changed-on-subscription',
      'sep-2575-server-sends-tools-list-changed-on-subscription',
    ],
  ]),
  ...byRest('2026-07-28', nothingTold, [['tools-call-with-progress', 'tools-call-with-progress']]),
  ...byRest('2026-07-28', nothingAsked, [
    ['input-required-result-basic-elicitation', 'sep-2322-elicitation-incomplete'],
    ['input-required-result-basic-sampling', 'sep-2322-sampling-incomplete'],
    ['input-required-result-basic-list-roots', 'sep-2322-list-roots-incomplete'],
    ['input-required-result-request-state', 'sep-2322-request-state-incomplete'],
    ['input-required-result-multiple-input-requests', 'sep-2322-multiple-inputs-incomplete'],
    ['input-required-result-multi-round', 'sep-2322-multi-round-r1'],
    ['input-required-result-missing-input-response', 'sep-2322-missing-response-rerequests'],
    ['input-required-result-non-tool-request', 'sep-2322-non-tool-incomplete'],
    ['input-required-result-result-type', 'sep-2322-result-type-included'],
    ['input-required-result-tampered-state', 'sep-2322-reject-tampered-state'],
    ['input-required-result-capability-check', 'sep-2322-respect-client-capabilities'],
    [
      'input-required-result-validate-input',
      'sep-2322-validate-input-responses',
      'sep-2322-error-on-protocol-error',
    ],
  ]),
];

/** Gives the limits of one run. */
export function limitsOf({ backend, revision }: GatewayRun): GatewayLimit[] {
  return gatewayLimits.filter((limit) => limit.revision === revision && limit.backends.includes(backend));
}
