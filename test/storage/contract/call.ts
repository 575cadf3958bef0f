import type { CallEntry } from '../../../src/storage/calls.ts';

/** The key of the audit log in these tests. */
export const auditKey = 'the key of the audit log';

/** Any time, epoch milliseconds: the begin of an hour. */
export const startMs = 1_799_280_000_000;

/** A call of a tool; `more` over the defaults. */
export function call(number: number, more: Partial<CallEntry> = {}): CallEntry {
  return {
    at: startMs + number,
    account: 'ada',
    client: 'app',
    grant: null,
    route: '/',
    actor: null,
    backend: null,
    credential: null,
    generation: null,
    transport: 'http',
    revision: '2025-11-25',
    method: 'tools/call',
    target: 'add_note',
    definition: null,
    argumentsHash: null,
    argumentNames: null,
    arguments: null,
    outcome: 'ok',
    code: null,
    reason: null,
    ms: number,
    waitMs: null,
    bytesIn: 10,
    bytesOut: 100,
    cached: false,
    retried: false,
    requestId: `request-${number}`,
    traceId: null,
    ...more,
  };
}

/** Calls with the numbers from 1. */
export function calls(count: number, more: (number: number) => Partial<CallEntry> = () => ({})): CallEntry[] {
  return Array.from({ length: count }, (_, index) => call(index + 1, more(index + 1)));
}
