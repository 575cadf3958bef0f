import { expect } from 'vitest';

/** A tool's result as every SDK gives it. */
interface ToolResult {
  structuredContent?: unknown;
  isError?: unknown;
}

/** Gives the structured content of a result, which must not be an error. */
export function structured(result: object): Record<string, unknown> {
  const { structuredContent, isError } = result as ToolResult;
  expect(isError ?? false, JSON.stringify(result)).toBe(false);
  return structuredContent as Record<string, unknown>;
}

/** Gives the texts of the notes in an answer of `search_notes`. */
export function textsOf(result: object): string[] {
  const { notes } = structured(result) as { notes: { text: string }[] };
  return notes.map(({ text }) => text);
}
