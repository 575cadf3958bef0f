/**
 * The code of a failure of the runtime, such as `ECONNREFUSED` or `EEXIST`.
 * @param error what was thrown
 * @returns undefined where it has none
 */
export function errorCode(error: unknown): string | undefined {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
