import { isRecord, type JsonRpcError } from '../../mcp/protocol.ts';
import { backendError } from '../backends/backend-errors.ts';
import type { Member } from './member.ts';

/** Milliseconds that an optional backend is waited for. */
const patienceMs = 10_000;

/** Member of a result that names the missing backends. */
const unavailableMember = 'mcp-gatehouse/unavailable';

/** A backend that is missing from an answer. */
export interface Missing {
  member: Member;
  error: JsonRpcError;
}

/**
 * Waits until backends are ready: all of them, or those that are within ten seconds; if none is by then, the first.
 * @returns those that are not, each with the reason
 */
export async function gather(members: readonly Member[]): Promise<Missing[]> {
  const errors = new Map<Member, JsonRpcError>();
  const tries = members.map(async (member) => {
    const error = await member.ready();
    if (error) errors.set(member, error);
    return error === undefined;
  });
  const { promise: isLate, resolve } = Promise.withResolvers<void>();
  const timers: NodeJS.Timeout[] = [];
  for (const attempt of tries)
    void attempt.then((isReady) => {
      if (!isReady) return;
      const waited = members.filter(({ isOpen }) => !isOpen).map(({ openingForMs }) => openingForMs);
      timers.push(setTimeout(resolve, patienceMs - Math.min(patienceMs, ...waited)).unref());
    });
  await Promise.race([Promise.all(tries), isLate]);
  for (const timer of timers) clearTimeout(timer);
  return members
    .filter(({ isOpen }) => !isOpen)
    .map((member) => ({
      member,
      error: errors.get(member) ?? backendError('backend_start_timed_out', member.backend.name),
    }));
}

/** Adds the names of missing backends to a result, which is then valid only for this moment. */
export function sayMissing(missing: readonly Missing[]): Record<string, unknown> {
  if (missing.length === 0) return {};
  const named = missing.map(({ member: { key }, error }) => {
    const reason = reasonOf(error);
    return { backend: key, message: error.message, ...(typeof reason === 'string' && { reason }) };
  });
  return { ttlMs: 0, _meta: { [unavailableMember]: named } };
}

/** The name of a failure, if its error has one. */
export function reasonOf({ data }: JsonRpcError): unknown {
  return isRecord(data) ? data.reason : undefined;
}
