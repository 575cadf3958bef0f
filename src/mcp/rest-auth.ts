/** What a handler of the MCP SDK gets that may carry credentials: the request, or its context in version 2 or 1. */
export interface MetaCarrier {
  params?: { _meta?: Readonly<Record<string, unknown>> | undefined } | undefined;
  _meta?: Readonly<Record<string, unknown>> | undefined;
  mcpReq?: { _meta?: Readonly<Record<string, unknown>> | undefined } | undefined;
}

/** Where values for the whole process come from. */
export interface ProcessValues {
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * Gives a credential that a caller sent along in `params._meta.auth`, or else the process's own (B7-15). The key
 * is matched in upper or lower case: callers write `perplexity_api_key` for `PERPLEXITY_API_KEY`.
 * @param request the request, or the context of its handler
 * @param values the process's own by default
 * @throws Error "KEY not set" where there is none
 */
export function getAuthValue(request: MetaCarrier, key: string, values: ProcessValues = process): string {
  const { auth } = request.params?._meta ?? request._meta ?? request.mcpReq?._meta ?? {};
  const value = findIgnoringCase(auth, key) ?? getParamValue(key, values);
  if (value === undefined) throw new Error(`${key} not set`);
  return value;
}

/**
 * Gives a value of the process: `--name=value` of its arguments, else of its environment (B7-15).
 * @param values the process's own by default
 * @returns undefined where neither has it, or it is empty
 */
export function getParamValue(name: string, { argv, env }: ProcessValues = process): string | undefined {
  const beginning = `--${name}=`;
  const argument = argv.find((one) => one.startsWith(beginning));
  const ofEnvironment = Object.hasOwn(env, name) ? env[name] : undefined;
  return argument?.slice(beginning.length) || ofEnvironment || undefined;
}

/** Own members alone, the exact name first. */
function findIgnoringCase(auth: unknown, key: string): string | undefined {
  if (typeof auth !== 'object' || auth === null) return undefined;
  const filled = Object.entries(auth).filter(([, value]) => typeof value === 'string' && value !== '');
  const alike = (name: string): boolean => name.toLowerCase() === key.toLowerCase();
  const [, value] = filled.find(([name]) => name === key) ?? filled.find(([name]) => alike(name)) ?? [];
  return typeof value === 'string' ? value : undefined;
}
