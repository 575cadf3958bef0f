/** Maximum length of a string in a log line, in characters. */
const maxLoggedLength = 500;

/** Truncates text chosen by others (a User-Agent, a client name) for a log line (T-195). */
export function loggable(value: string | undefined): string | undefined {
  if (value === undefined || value.length <= maxLoggedLength) return value;
  return `${value.slice(0, maxLoggedLength)}… (${value.length} characters)`;
}

/**
 * Replaces e-mail addresses in a text by `[address]`, with the letters around them up to a space or a separator. A `/`
 * before the `@` is no address: stack traces and URLs have such names of packages and users.
 */
export function replaceAddresses(text: string): string {
  if (/^(?![a-z]+:\/\/)[^\s@]+@[^\s@]+$/i.test(text)) return '[address]';
  return text.replace(/[^\s"<>(),:;]+/g, (word) => (/[^/@]@[^/@]/.test(word) ? '[address]' : word));
}
