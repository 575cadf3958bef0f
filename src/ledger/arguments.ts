import { hash } from 'node:crypto';
import { canonicalJson } from '../collections/exact-json.ts';
import type { SealedBox } from '../crypto/sealed-box.ts';

/** Arguments of a call. */
export type CallArguments = Readonly<Record<string, unknown>>;

/** The kept part of the arguments of a route. */
export interface ArgumentKeeping {
  /** `hash`: a keyed hash alone; `redacted`: also their shape, with the values of `keep`; `full`: all. */
  arguments: 'hash' | 'redacted' | 'full';
  /** Names of arguments whose values `redacted` keeps. */
  keep: readonly string[];
}

/** Maximum length of the kept arguments, in characters. */
const maxKept = 4096;

/** Maximum number and length of argument names in a row: callers may send any. */
const maxNames = 20;
const maxNameLength = 40;

/**
 * Returns a keyed hash of arguments: equal arguments can be found, and short values cannot be guessed. A prefix is a key
 * for SHA-512/256: its output is half of its state, so nobody can extend the text. HMAC takes six times as long.
 * @param key always of the same length
 * @returns 132 bits, base64url
 */
export function hashArguments(key: string, given: CallArguments): string {
  return hash('sha512-256', key + canonicalJson(given), 'base64url').slice(0, 22);
}

/** Returns the beginning of a foreign text, without control characters and lone surrogates. */
export function shortText(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replace(/\p{C}/gu, '\u{fffd}');
}

/** Returns the names of the top-level arguments, joined by commas and shortened. */
export function namesOfArguments(given: CallArguments): string {
  const names = Object.keys(given);
  const shown = names.slice(0, maxNames).map((name) => shortText(name, maxNameLength));
  return [...shown, ...(names.length > maxNames ? ['…'] : [])].join(',');
}

/**
 * Seals the kept part of arguments.
 * @param context returns what the arguments belong to
 * @returns null if none is kept
 */
export function sealArguments(
  given: CallArguments,
  keeping: ArgumentKeeping,
  box: Pick<SealedBox, 'seal'>,
  context: () => string,
): Uint8Array | null {
  if (keeping.arguments === 'hash') return null;
  const kept = keeping.arguments === 'full' ? given : redact(given, new Set(keeping.keep));
  const text = JSON.stringify(kept);
  const isLong = text.length > maxKept;
  const sealed = box.seal(isLong ? JSON.stringify({ shortened: text.slice(0, maxKept) }) : text, context());
  // In a buffer of its own: what is sent to a thread is copied with its whole buffer.
  return Uint8Array.from(sealed);
}

/** Replaces values by their types, but for the members that may be kept, at any depth. */
function redact(value: unknown, kept: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => redact(item, kept));
  if (typeof value === 'string') return `string(${value.length})`;
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value))
    return value === null ? null : typeOf(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, kept.has(name) ? member : redact(member, kept)]),
  );
}

function typeOf(value: unknown): string {
  return typeof value === 'object' ? 'number' : typeof value;
}
