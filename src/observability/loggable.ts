/** Maximum length of a string in a log line, in characters. */
const maxLoggedLength = 500;

/** Truncates text chosen by others (a User-Agent, a client name) for a log line (T-195). */
export function loggable(value: string | undefined): string | undefined {
  if (value === undefined || value.length <= maxLoggedLength) return value;
  return `${value.slice(0, maxLoggedLength)}… (${value.length} characters)`;
}
