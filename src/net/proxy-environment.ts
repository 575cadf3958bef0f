/** What of the process decides whether Node sends requests through a proxy. */
export interface ProcessEnvironment {
  env: Readonly<Record<string, string | undefined>>;
  execArgv: readonly string[];
}

const proxyVariables = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'] as const;

/**
 * Says whether this process was told to send its requests through a proxy. Guarded fetches go to pinned addresses, and so
 * past a proxy: where one was meant to see all traffic, they must not be made at all (T-069). A proxy variable alone
 * says nothing; Node heeds it where `NODE_USE_ENV_PROXY` or `--use-env-proxy` stands beside it.
 * @returns the variable that names the proxy; undefined where there is none
 */
export function demandedProxy({ env, execArgv }: ProcessEnvironment): string | undefined {
  const switchedOn = !['', '0', undefined].includes(env.NODE_USE_ENV_PROXY);
  const asOption = [...execArgv, ...(env.NODE_OPTIONS ?? '').split(' ')].includes('--use-env-proxy');
  return switchedOn || asOption ? proxyVariables.find((name) => env[name]) : undefined;
}
