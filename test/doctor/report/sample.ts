import type { Finding } from '../../../src/doctor/check.ts';
import type { Report } from '../../../src/doctor/examine.ts';

/** A finding with what a test cares about. */
export function finding(id: string, verdict: Finding['verdict'], more: Partial<Finding> = {}): Finding {
  return {
    id,
    section: 'resource',
    title: `The rule of ${id}`,
    clause: 'RFC 9728 section 3.3',
    verdict,
    saw: `what ${id} saw`,
    ...(verdict === 'fail' || verdict === 'warn' ? { fix: `mend ${id}` } : {}),
    ...more,
  };
}

/** A report of some findings, with one exchange. */
export function reportOf(...findings: readonly Finding[]): Report {
  return {
    url: 'https://mcp.example.com/mcp',
    startedAt: 1_800_000_000,
    active: false,
    stopped: false,
    findings,
    exchanges: [
      {
        number: 1,
        startedAtMs: 1_800_000_000_000,
        durationMs: 12.4,
        request: {
          method: 'POST',
          url: 'https://mcp.example.com/mcp',
          headers: [['authorization', 'Bearer <secret:access_token>']],
          body: '{}',
        },
        response: { status: 401, headers: [], body: '{}' },
      },
    ],
  };
}
