/** A string, a comment, or a comma before a closing bracket. Strings come first, so that nothing inside them counts. */
const lexeme =
  /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=(?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*[}\]])/g;

/**
 * Reads JSON as editors write it: with comments and a comma after the last entry.
 * @param text the file
 * @returns the value
 * @throws SyntaxError if it is no JSON even so
 */
export function parseJsonWithComments(text: string): unknown {
  return JSON.parse(
    text.replace(/^\uFEFF/, '').replace(lexeme, (found) => (found.startsWith('"') ? found : ' ')),
  );
}
