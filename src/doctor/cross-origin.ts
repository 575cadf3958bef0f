import { type Answer, describeAnswer } from './ask.ts';
import { quoteOrMissing } from './document.ts';
import { browserOrigin } from './requests.ts';

function listed(field: string | null): string[] {
  return (field ?? '').split(',').map((entry) => entry.trim().toLowerCase());
}

/**
 * Returns true if a page may read an answer.
 * @param answer to a request with `Origin`
 * @see WHATWG Fetch "CORS check"
 */
export function mayRead(answer: Answer): boolean {
  if (answer.kind === 'unanswered') return false;
  const allowed = answer.headers.get('access-control-allow-origin');
  return allowed === '*' || allowed === browserOrigin;
}

/**
 * Returns true if a page may read a field of an answer.
 * @param answer to a request with `Origin`
 * @param name of the field
 */
export function exposes(answer: Answer, name: string): boolean {
  if (answer.kind === 'unanswered') return false;
  const exposed = listed(answer.headers.get('access-control-expose-headers'));
  return exposed.includes('*') || exposed.includes(name.toLowerCase());
}

/**
 * Returns the reason why a browser would not send the request after this preflight; undefined if it would.
 * @param answer to the preflight
 * @param method the page wants to use
 * @param headers fields the page wants to send
 * @see WHATWG Fetch "CORS-preflight fetch"
 */
export function preflightFault(
  answer: Answer,
  method: string,
  headers: readonly string[],
): string | undefined {
  if (answer.kind === 'unanswered' || answer.status < 200 || answer.status > 299)
    return `OPTIONS is answered with ${describeAnswer(answer)}`;
  if (!mayRead(answer))
    return `Access-Control-Allow-Origin is ${quoteOrMissing(answer.headers.get('access-control-allow-origin'))}`;
  const methods = listed(answer.headers.get('access-control-allow-methods'));
  const isSimple = method === 'GET' || method === 'POST';
  if (!isSimple && !methods.includes('*') && !methods.includes(method.toLowerCase()))
    return `Access-Control-Allow-Methods lacks ${method}`;
  const allowed = listed(answer.headers.get('access-control-allow-headers'));
  // The wildcard never stands for Authorization.
  const missing = headers.filter((name) => {
    const lower = name.toLowerCase();
    return !allowed.includes(lower) && (lower === 'authorization' || !allowed.includes('*'));
  });
  return missing.length === 0 ? undefined : `Access-Control-Allow-Headers lacks ${missing.join(', ')}`;
}
