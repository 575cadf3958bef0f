/** Key of a backend among several behind one path: the prefix of all its names (C8-07). */
export const backendKeyForm = /^[a-z][a-z0-9-]{0,19}$/;

/** Longest name of a tool, in characters. @see MCP 2025-11-25 "Tool Names" */
export const maxToolNameLength = 128;

/** A name or URI, and whose it is. */
export interface Split {
  key: string;
  own: string;
}

/** Returns the name by which clients know a tool or prompt: `files_read` of the backend `files` (C8-07). */
export function finalName(key: string, own: string): string {
  return `${key}_${own}`;
}

/**
 * Reverses {@link finalName}: no key has `_` in it.
 * @returns undefined if it is no such name
 */
export function splitName(name: string): Split | undefined {
  return split(/^([a-z][a-z0-9-]*)_(.*)$/s, name);
}

/**
 * Returns the URI, or template, by which clients know a resource. The key becomes a part of the scheme
 * (`files+file:///a`), so that it stays a URI; `ui:` keeps its scheme, which hosts look for, and has the key before its
 * authority (`ui://files+app/a`).
 * @see RFC 3986 section 3.1; RFC 6570
 */
export function finalUri(key: string, own: string): string {
  return own.startsWith('ui://') ? `ui://${key}+${own.slice(5)}` : `${key}+${own}`;
}

/**
 * Reverses {@link finalUri}: no key has `+` in it.
 * @returns undefined if it is no such URI
 */
export function splitUri(uri: string): Split | undefined {
  const shown = split(/^ui:\/\/([a-z][a-z0-9-]*)\+(.*)$/s, uri);
  return shown ? { ...shown, own: `ui://${shown.own}` } : split(/^([a-z][a-z0-9-]*)\+(.*)$/s, uri);
}

function split(form: RegExp, text: string): Split | undefined {
  const [, key, own] = form.exec(text) ?? [];
  return key === undefined || own === undefined ? undefined : { key, own };
}
