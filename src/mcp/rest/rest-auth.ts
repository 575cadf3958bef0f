/** Argument of an MCP SDK handler that may carry credentials: the request, or its context in version 2 or 1. */
export interface MetaCarrier {
  params?: { _meta?: Readonly<Record<string, unknown>> | undefined } | undefined;
  _meta?: Readonly<Record<string, unknown>> | undefined;
  mcpReq?: { _meta?: Readonly<Record<string, unknown>> | undefined } | undefined;
}

/** Sources of process-wide values. */
export interface ProcessValues {
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns a credential that a caller sent along in `params._meta.auth`, or else the process's own (B7-15). The key is
 * matched in upper or lower case: callers write `perplexity_api_key` for `PERPLEXITY_API_KEY`.
 * @param request the request, or the context of its handler
 * @param values the process's own by default
 * @returns `""` if there is none, so that `getAuthValue(request, 'KEY') || getParamValue('key')` works (FA-35)
 */
export function getAuthValue(request: MetaCarrier, key: string, values: ProcessValues = process): string {
  const { auth } = request.params?._meta ?? request._meta ?? request.mcpReq?._meta ?? {};
  return findIgnoringCase(Object.entries(Object(auth)), key) ?? getParamValue(key, values) ?? '';
}

/**
 * Returns a value of the process: `--name=value` of its arguments, else of its environment (B7-15). The name is matched
 * in upper or lower case, the exact one first.
 * @param values the process's own by default
 * @returns undefined if neither has it, or it is empty
 */
export function getParamValue(name: string, { argv, env }: ProcessValues = process): string | undefined {
  const given = argv.flatMap((one) => {
    const [, key, value] = /^--([^=]+)=(.*)$/s.exec(one) ?? [];
    return key === undefined ? [] : [[key, value] as const];
  });
  return findIgnoringCase(given, name) ?? findIgnoringCase(Object.entries(env), name);
}

/** The exact name first; an empty value is none. */
function findIgnoringCase(entries: readonly (readonly [string, unknown])[], key: string): string | undefined {
  const filled = entries.filter(([, value]) => typeof value === 'string' && value !== '');
  const alike = (name: string): boolean => name.toLowerCase() === key.toLowerCase();
  const [, value] = filled.find(([name]) => name === key) ?? filled.find(([name]) => alike(name)) ?? [];
  return typeof value === 'string' ? value : undefined;
}
