/**
 * The runtime's code of a failed fetch: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. It stands in the deepest cause.
 * @param error what a fetch rejected with
 */
export function failureCode(error: unknown): string | undefined {
  let deepest = error;
  while (deepest instanceof Error && deepest.cause instanceof Error) deepest = deepest.cause;
  const { code } = Object(deepest) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
