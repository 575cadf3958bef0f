import { headerNamePattern } from '../../oauth/headers.ts';

/** A tool parameter that is sent as a header, too: if it stands in the arguments, and the header's name. */
interface Declaration {
  path: readonly string[];
  header: string;
}

/** Types of values that may be headers. */
const types = new Set<unknown>(['string', 'integer', 'boolean']);

/** Values that a header can carry unchanged: visible ASCII with blanks and tabs inside. */
const plain = /^[\x21-\x7E](?:[\x20-\x7E\t]*[\x21-\x7E])?$/;
const sentinel = /^=\?base64\?.*\?=$/s;

function declarations(schema: unknown, path: readonly string[] = []): Declaration[] {
  const { properties } = Object(schema) as { properties?: unknown };
  return Object.entries(Object(properties) as Record<string, unknown>).flatMap(([name, property]) => {
    const { 'x-mcp-header': header, type } = Object(property) as Record<string, unknown>;
    const own =
      typeof header === 'string' && headerNamePattern.test(header) && types.has(type)
        ? [{ path: [...path, name], header }]
        : [];
    return [...own, ...declarations(property, [...path, name])];
  });
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (Object(value) as Record<string, unknown>)[name], args);
}

/**
 * Writes a value of a parameter, or a name, as the value of its header.
 * @returns undefined for what is sent in no header
 * @see MCP 2026-07-28 transports "Value Encoding" (B5-03, B5-08)
 */
export function encodeHeaderValue(value: unknown): string | undefined {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return undefined;
  if (!['string', 'number', 'boolean'].includes(typeof value)) return undefined;
  const text = String(value);
  if (plain.test(text) && !sentinel.test(text)) return text;
  const bytes = new TextEncoder().encode(text);
  return `=?base64?${btoa(String.fromCharCode(...bytes))}?=`;
}

/**
 * The `Mcp-Param-*` headers of a call, for hosts that do not send any: over stdio they need not.
 * @param inputSchema the tool's
 * @param args what it is called with
 * @returns name -> value; nothing for parameters that are absent or null
 * @see MCP 2026-07-28 transports "Custom Headers from Tool Parameters" (B5-08)
 */
export function paramHeaders(inputSchema: unknown, args: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { path, header } of declarations(inputSchema)) {
    const value = encodeHeaderValue(valueAt(args, path));
    if (value !== undefined) headers[`mcp-param-${header}`] = value;
  }
  return headers;
}
