import { markNumbers } from '../../collections/exact-json.ts';
import type { Fetch } from '../context.ts';

/**
 * Marks the numbers of a message, which the SDK's transports parse by themselves. Text that is no JSON is left as it is.
 * @returns what `restoreNumbers` takes once it was parsed (FA-40)
 */
export function markMessage(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  return markNumbers(text);
}

/** Marks the numbers in the answers of a fetch that are JSON. */
export function withMarkedNumbers(fetch: Fetch): Fetch {
  return async (target, init) => {
    const response = await fetch(target, init);
    const { status, statusText, headers } = response;
    const isJson = /^application\/(?:[\w.-]+\+)?json\b/i.test(headers.get('content-type') ?? '');
    if (response.body === null || !isJson) return response;
    return new Response(markMessage(await response.text()), { status, statusText, headers });
  };
}
