import type { Answered } from './ask.ts';
import { isHtml } from './describe-answer.ts';

/** Statuses with which proxies and networks of proxies say that they do not reach the server; 520 and on are Cloudflare's. */
const statuses = new Set([502, 504, 521, 522, 523, 524, 530]);

/**
 * Tells an answer that a proxy gives in the place of a server it does not reach. 503 is such a one only as a page, as HAProxy
 * and Apache send it: servers that are starting say it, too.
 * @param answer its status and headers
 * @see RFC 9110 sections 15.6.3 to 15.6.5
 */
export function isGatewayError(answer: Pick<Answered, 'status' | 'headers'>): boolean {
  return statuses.has(answer.status) || (answer.status === 503 && isHtml(answer));
}
