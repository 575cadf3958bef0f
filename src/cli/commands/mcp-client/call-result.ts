import { formatJson, printable, printableLine } from '../../output.ts';

/** A block of content, as far as it is shown. */
export type ShownBlock = { type: string } & Record<string, unknown>;

/** A tool result, as far as it is shown. */
interface ShownResult {
  content: readonly ShownBlock[];
  structuredContent?: unknown;
}

/**
 * Writes a block of content for a person: its text, or one line for anything else.
 * @returns text that is fit for a terminal (T-190)
 */
export function formatBlock(block: ShownBlock): string {
  if (block.type === 'text' && typeof block.text === 'string') return printable(block.text);
  const { text, uri, mimeType } = Object(block.resource) as Record<string, unknown>;
  if (typeof text === 'string') return printable(text);
  const size =
    typeof block.data === 'string' ? `${Math.floor((block.data.length * 3) / 4)} bytes` : undefined;
  const about = [block.type, block.mimeType ?? mimeType, block.uri ?? uri ?? block.name, size].filter(
    (one) => typeof one === 'string',
  );
  return `[${printableLine(about.join(' '))}]`;
}

/**
 * Writes a tool result for a person: its texts, and one line for anything else.
 * @param result what the tool answered
 * @returns text that is fit for a terminal (T-190)
 */
export function formatResult(result: ShownResult): string {
  const parts = result.content.map(formatBlock);
  if (parts.length === 0 && result.structuredContent !== undefined)
    return formatJson(result.structuredContent);
  return parts.length === 0 ? '' : `${parts.join('\n').replace(/\n+$/, '')}\n`;
}
