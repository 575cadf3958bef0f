import { isLegacyRequest } from '@modelcontextprotocol/server';
import { formatBearerChallenge } from '../oauth/challenge.ts';
import { formatScope } from '../oauth/scope.ts';
import { checkAccept } from './checks/accept.ts';
import { checkContentEncoding, checkContentLength, checkContentType } from './checks/body-headers.ts';
import { parseJson } from './checks/json.ts';
import { readMessages } from './checks/messages.ts';
import { checkMethod } from './checks/method.ts';
import { type Answer, type Exchange, toWebRequest } from './exchange.ts';
import type { LegacyEra, Posted } from './legacy.ts';
import type { ModernEra } from './modern.ts';
import { readBody } from './read-body.ts';
import { isRefusal, type Refusal } from './refusal.ts';
import type { ScopeGate } from './scope-rules.ts';

/** What requests are dispatched to. */
export interface DispatchOptions {
  legacy: LegacyEra;
  modern: ModernEra;
  gate: ScopeGate;
  /** The endpoint's public URL. */
  url: URL;
  resourceMetadataUrl: string;
  maxBodyBytes: number;
}

/** Answers one request, or says why not. */
export type Dispatch = (exchange: Exchange) => Promise<Answer | Refusal>;

/**
 * Creates the way of a request through the MCP endpoint: every check in its order, then the era it belongs to.
 * What the request says decides its era; no header left out makes a check weaker (B5-16, T-133).
 */
export function createDispatch(options: DispatchOptions): Dispatch {
  const { legacy, modern, gate, url, resourceMetadataUrl, maxBodyBytes } = options;

  const checkHeaders = ({ method, headers }: Exchange): Refusal | undefined =>
    checkMethod(method, headerOf(headers['mcp-protocol-version'])) ??
    checkContentLength(headers['content-length'], maxBodyBytes) ??
    (method === 'POST' ? checkContentType(headers['content-type']) : undefined) ??
    checkContentEncoding(headers['content-encoding']) ??
    checkAccept(method, headers.accept);

  const readPosted = async ({ body, headers }: Exchange): Promise<Posted | Refusal> => {
    const bytes = await readBody(body, headers['content-length'], maxBodyBytes);
    if (isRefusal(bytes)) return bytes;
    const json = parseJson(bytes);
    if (isRefusal(json)) return json;
    const messages = readMessages(json.value);
    return isRefusal(messages) ? messages : { value: json.value, messages };
  };

  const checkScopes = ({ authInfo }: Exchange, { messages }: Posted): Refusal | undefined => {
    const scopes = gate.missing(messages.list, authInfo.scopes);
    if (!scopes) return undefined;
    const challenge = formatBearerChallenge({
      error: 'insufficient_scope',
      error_description: 'This call needs more scopes than the access token has.',
      scope: formatScope(scopes),
      resource_metadata: resourceMetadataUrl,
    });
    const [first] = messages.requests;
    return {
      reason: 'insufficient_scope',
      headers: { 'WWW-Authenticate': challenge },
      ...(first ? { id: first.id } : {}),
    };
  };

  const dispatchPost = async (exchange: Exchange): Promise<Answer | Refusal> => {
    const posted = await readPosted(exchange);
    if (isRefusal(posted)) return posted;

    if (!(await isLegacyRequest(toWebRequest(exchange, url), posted.value)))
      return checkScopes(exchange, posted) ?? modern.serve(exchange, posted);
    if (posted.messages.list[0]?.method === 'initialize') return legacy.initialize(exchange, posted);

    const session = legacy.findSession(exchange);
    if (isRefusal(session)) return session;
    return checkScopes(exchange, posted) ?? legacy.serve(session, exchange, posted);
  };

  return async (exchange) => {
    const refusal = checkHeaders(exchange);
    if (refusal) return refusal;
    if (exchange.method === 'POST') return dispatchPost(exchange);
    const session = legacy.findSession(exchange);
    return isRefusal(session) ? session : legacy.serve(session, exchange);
  };
}

function headerOf(value: string | string[] | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}
