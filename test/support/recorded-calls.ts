import type { CallEntry, CallOutcome } from '../../src/storage/calls.ts';
import { openDataFolder } from '../../src/storage/sqlite/index.ts';

const tools = ['create_issue', 'list_issues', 'search_code', 'read_file', 'get_pull_request', 'merge'];
const outcomes: readonly [CallOutcome, string | null][] = [
  ['ok', null],
  ['tool_error', null],
  ['refused', 'insufficient_scope'],
  ['timed_out', 'backend_call_timed_out'],
];

/** Calls of one batch of the ledger. */
const batch = 250;

/** Returns a call as a server would record it. @param nth number of the call, from which the other values follow */
export function recordedCall(nth: number, given: Partial<CallEntry> = {}): CallEntry {
  const [outcome, reason] = outcomes[nth % 20 < 3 ? (nth % 20) + 1 : 0] ?? ['ok', null];
  return {
    at: Date.now() - nth * 20_000,
    account: 'acct_AAAAAAAAAAAAAAAAAAAAAA',
    client: 'client-0123456789abcdef0123456789',
    grant: 'AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-AbCdEf',
    route: nth % 5 === 0 ? '/notes' : '/github',
    actor: null,
    backend: null,
    credential: nth % 5 === 0 ? null : 'github',
    generation: null,
    transport: 'http',
    revision: '2025-11-25',
    method: 'tools/call',
    target: tools[nth % tools.length] ?? null,
    definition: null,
    argumentsHash: 'AbCdEfGhIjKlMnOpQrStUv',
    argumentNames: 'owner,repo,title',
    arguments: null,
    outcome,
    code: outcome === 'ok' ? null : -32000,
    reason,
    ms: 20 + (nth % 200),
    waitMs: null,
    bytesIn: 412,
    bytesOut: 2048,
    cached: false,
    retried: false,
    requestId: `01234567-89ab-cdef-0123-${String(nth).padStart(12, '0')}`,
    traceId: null,
    ...given,
  };
}

/** Adds calls of an account by an app to the ledger of a data folder, the newest last. A server may have it open. */
export async function recordCalls(
  folder: string,
  { email, client, count }: { email: string; client: string; count: number },
): Promise<void> {
  const { storage } = await openDataFolder(folder);
  try {
    const account = (await storage.accounts.findByEmail(email))?.id ?? '';
    for (let left = count; left > 0; left -= batch) {
      const calls = Array.from({ length: Math.min(batch, left) }, (_, at) =>
        recordedCall(left - at, { account, client }),
      );
      await storage.calls.append({ calls, lost: 0 }, Date.now(), false);
    }
  } finally {
    await storage.close();
  }
}
