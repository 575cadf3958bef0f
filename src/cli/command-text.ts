/** How a person runs this command line: from a checkout, or as the published package. */
export const programName = import.meta.url.endsWith('.ts') ? 'scripts/gatehouse' : 'npx mcp-gatehouse';

/** @returns the text as one word of a shell command */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
