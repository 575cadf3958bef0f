import type { Refusal } from './refusal.ts';

/** Content types an answer to each method may have; the client must take all of them. */
const answerTypes: Readonly<Record<string, readonly string[]>> = {
  POST: ['application/json', 'text/event-stream'],
  GET: ['text/event-stream'],
};

/** The value that nearly every client sends with a POST; it accepts everything. */
const usualAccept = 'application/json, text/event-stream';

/**
 * Checks that the client takes what we may answer with. Wildcards count, and no `Accept` at all takes everything
 * (RFC 9110 section 12.5.1).
 * @param accept the `Accept` header
 * @see MCP transports "Sending Messages to the Server" (B3-02)
 */
export function checkAccept(method: string, accept: string | undefined): Refusal | undefined {
  if (accept === undefined || accept === usualAccept) return undefined;
  const ranges = parseRanges(accept);
  const missing = (answerTypes[method] ?? []).some((type) => !accepts(ranges, type));
  return missing ? { reason: 'not_acceptable' } : undefined;
}

/** Media ranges -> whether they are wanted at all (`q=0` says no). */
function parseRanges(accept: string): Map<string, boolean> {
  const ranges = new Map<string, boolean>();
  for (const part of accept.toLowerCase().split(',')) {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const refused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    ranges.set(range, !refused);
  }
  return ranges;
}

/** The most specific range decides. */
function accepts(ranges: ReadonlyMap<string, boolean>, type: string): boolean {
  const [main] = type.split('/');
  return ranges.get(type) ?? ranges.get(`${main}/*`) ?? ranges.get('*/*') ?? false;
}
