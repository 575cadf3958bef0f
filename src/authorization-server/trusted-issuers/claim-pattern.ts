import { comparableClaim } from '../../oauth/issuer.ts';

/**
 * Whether a claim fits what the operator wrote: the same text, where each `*` stands for any characters. Whole claims are
 * compared, with respect to case, in time that grows with their length and no faster.
 * @param claim text, a whole number that JSON cannot have rounded, or a Boolean; anything else fits nothing
 */
export function fitsPattern(pattern: string, claim: unknown): boolean {
  const text = comparableClaim(claim);
  if (text === undefined) return false;
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return text === pattern;
  const last = rest.pop() ?? '';
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}

/** Whether every claim the operator named is there and fits. */
export function fitsClaims(
  patterns: Readonly<Record<string, string>>,
  claims: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(patterns).every(
    ([name, pattern]) => Object.hasOwn(claims, name) && fitsPattern(pattern, claims[name]),
  );
}
