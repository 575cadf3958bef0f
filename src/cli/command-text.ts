/** The command that a person types: a script of the checkout, or the published package. */
export const programName = import.meta.url.endsWith('.ts') ? 'scripts/gatehouse' : 'npx mcp-gatehouse';
