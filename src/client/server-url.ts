import { canonicalResource } from '../oauth/resource-indicator.ts';
import { requireUrl, type UrlRules } from './url-policy.ts';

/**
 * The URL under which the login of an MCP server is kept: canonical, so that two ways to write it are one server.
 * @param url URL of the MCP server
 * @param rules what it may point at
 * @throws ClientError `bad_url`
 * @see RFC 8707 section 2; MCP authorization "Canonical Server URI" (A7-01)
 */
export function canonicalServerUrl(url: string, rules: UrlRules = {}): string {
  const { href } = requireUrl(URL.parse(url)?.href ?? url, 'The MCP server URL', rules);
  return canonicalResource(href) ?? href;
}
