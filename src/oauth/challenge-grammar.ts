/** Where a `WWW-Authenticate` field stops following the grammar. */
export interface GrammarFault {
  /** From 1. */
  position: number;
  /** What is wrong there, a sentence without its end. */
  what: string;
}

const tchar = /[!#$%&'*+\-.^_`|~0-9A-Za-z]/;
const token68 = /^[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|$))/;

/**
 * Reads a `WWW-Authenticate` field as strictly as the grammar says, so that what lenient clients forgive is seen.
 * @param value the fields, joined by a comma
 * @returns the first fault; undefined where there is none
 * @see RFC 9110 section 11.6.1
 */
export function findGrammarFault(value: string): GrammarFault | undefined {
  let at = 0;
  const rest = (): string => value.slice(at);
  const space = (): number => {
    const length = /^[ \t]*/.exec(rest())?.[0].length ?? 0;
    at += length;
    return length;
  };
  const token = (): string => {
    const start = at;
    while (at < value.length && tchar.test(value.charAt(at))) at++;
    return value.slice(start, at);
  };
  const fault = (what: string, position = at): GrammarFault => ({ position: position + 1, what });

  /** A parameter's value: nothing where it is right. */
  const parameterValue = (name: string): GrammarFault | undefined => {
    const start = at;
    if (value.charAt(at) !== '"') {
      if (value.charAt(at) === "'") return fault(`the value of ${name} is in single quotes`);
      if (token() === '') return fault(`the value of ${name} is missing`);
      return /^[ \t]*(?:,|$)/.test(rest())
        ? undefined
        : fault(`the value of ${name} has a ${JSON.stringify(value.charAt(at))} and is not in quotes`, at);
    }
    at++;
    while (at < value.length && value.charAt(at) !== '"') at += value.charAt(at) === '\\' ? 2 : 1;
    if (at >= value.length) return fault(`the quotes of ${name} do not end`, start);
    at++;
    return undefined;
  };

  /** Whether a scheme stands here, and not one more parameter. */
  let hasScheme = false;
  let needsComma = false;
  while (space() >= 0 && at < value.length) {
    if (value.charAt(at) === ',') {
      needsComma = false;
      at++;
      continue;
    }
    if (needsComma) return fault('a comma is missing');
    const start = at;
    const word = token();
    if (word === '') return fault(`${JSON.stringify(value.charAt(at))} stands where a name is expected`);
    const equals = /^[ \t]*=/.exec(rest());
    if (equals) {
      if (!hasScheme) return fault(`the parameter ${word} comes before any scheme`, start);
      at += equals[0].length;
      space();
      const found = parameterValue(word);
      if (found) return found;
      needsComma = true;
      continue;
    }
    hasScheme = true;
    const spaces = space();
    const opaque = token68.exec(rest());
    if (spaces > 0 && opaque) {
      at += opaque[0].length;
      needsComma = true;
    } else needsComma = at < value.length && value.charAt(at) !== ',' && spaces === 0;
  }
  return undefined;
}
