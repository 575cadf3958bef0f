import { ApiRefusal } from './api-refusal.ts';

/** Which addresses tools may call with the tokens of an upstream. */
export interface ApiAddresses {
  /** Name of the upstream in the settings. */
  name: string;
  /** Hosts, with port where it is not 443. */
  apiHosts: readonly string[];
  /** Whether such a host may be this very machine, and without https. */
  dangerouslyFromLoopback: boolean;
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Reads the address a tool wants to call.
 * @throws ApiRefusal unless it is https on one of the hosts; for this machine http counts where that was allowed
 */
export function readApiAddress(given: string | URL, addresses: ApiAddresses): URL {
  const { name, apiHosts, dangerouslyFromLoopback } = addresses;
  const url = URL.parse(String(given));
  if (!url) throw new ApiRefusal('url_not_allowed', 'The tool calls something that is no absolute URL.');
  const isPlain = url.protocol === 'http:' && dangerouslyFromLoopback && loopback.test(url.hostname);
  if (url.protocol !== 'https:' && !isPlain)
    throw new ApiRefusal('url_not_allowed', 'The tool calls a URL that is not https.');
  if (url.username !== '' || url.password !== '')
    throw new ApiRefusal('url_not_allowed', 'The tool calls a URL with a user name or password in it.');
  const isAllowed = apiHosts.some((host) => URL.parse(`${url.protocol}//${host}`)?.host === url.host);
  if (!isAllowed)
    throw new ApiRefusal(
      'url_not_allowed',
      `The tool calls ${url.host}, which may not be called as the person: the operator can add it to upstreams.${name}.apiHosts.`,
    );
  return url;
}
