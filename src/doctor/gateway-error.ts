/** Statuses with which proxies and networks of proxies say that they do not reach the server; 520 and on are Cloudflare's. */
const statuses = new Set([502, 504, 521, 522, 523, 524, 530]);

/**
 * Tells an answer that a proxy gives in the place of a server it does not reach. 503 is not among them: servers send it, too.
 * @param status of the answer
 * @see RFC 9110 sections 15.6.3 and 15.6.5
 */
export function isGatewayError(status: number): boolean {
  return statuses.has(status);
}
