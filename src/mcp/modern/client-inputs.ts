import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { type Answer, type Call, isRecord, type JsonRpcError, type RequestMessage } from '../protocol.ts';
import { usesTools } from '../sdk/negotiation.ts';

/** Requests for input that a server may make: sampling, elicitation and roots. */
const inputs = new Set(['sampling/createMessage', 'elicitation/create', 'roots/list']);

/** Returns true if a request of a server is one for input. */
export function isInputRequest({ method }: RequestMessage): boolean {
  return inputs.has(method);
}

/** Returns a request of a server in the form of `inputRequests`: without id, and without `_meta` of the older revision. */
export function embeddedRequest({ method, params }: RequestMessage): Record<string, unknown> {
  if (params === undefined) return { method };
  const { _meta, ...asked } = params;
  return { method, params: asked };
}

/** URLElicitationRequired of 2025-11-25; 2026-07-28 asks for the input instead (C7-04). */
const urlElicitationRequired = -32042;

/**
 * Reads an error that names the URLs to open before the call is sent again.
 * @returns a request for each URL; undefined for other errors
 */
export function urlElicitations({ code, data }: JsonRpcError): RequestMessage[] | undefined {
  const elicitations = isRecord(data) ? data.elicitations : undefined;
  if (code !== urlElicitationRequired || !Array.isArray(elicitations)) return undefined;
  return elicitations.filter(isRecord).map(({ elicitationId, ...params }, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'elicitation/create',
    params: { ...params, mode: 'url' },
  }));
}

/**
 * Returns the client capabilities that a request for input needs and the client did not declare.
 * @param declared `io.modelcontextprotocol/clientCapabilities` of the call
 * @returns in the form of `requiredCapabilities`; undefined if nothing is missing
 * @see MCP 2026-07-28 "Error Codes" (C3-05, C4-02)
 */
export function missingCapabilities(
  { method, params = {} }: Pick<RequestMessage, 'method' | 'params'>,
  declared: Record<string, unknown>,
): Record<string, unknown> | undefined {
  if (method === 'roots/list') return isRecord(declared.roots) ? undefined : { roots: {} };
  if (method === 'sampling/createMessage') {
    const needsTools = usesTools(params);
    const { sampling } = declared;
    if (isRecord(sampling) && (!needsTools || isRecord(sampling.tools))) return undefined;
    return { sampling: needsTools ? { tools: {} } : {} };
  }
  const mode = params.mode === 'url' ? 'url' : 'form';
  const { elicitation } = declared;
  // A bare `elicitation: {}` means forms, as in 2025-06-18.
  const meansForms = isRecord(elicitation) && mode === 'form' && elicitation.url === undefined;
  if (isRecord(elicitation) && (isRecord(elicitation[mode]) || meansForms)) return undefined;
  return { elicitation: { [mode]: {} } };
}

/** Reads the capabilities that a client declared in the request. */
export function declaredCapabilities({
  request: { params },
}: Pick<Call, 'request'>): Record<string, unknown> {
  const meta = params?._meta as Record<string, unknown> | undefined;
  return (meta?.[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Record<string, unknown>;
}

/**
 * Returns the error for a call if a server's requests need a capability that the client did not declare (C3-05, FA-31).
 * @returns undefined if the client declared all of them
 */
export function missingFor(
  call: Pick<Call, 'request'>,
  questions: Iterable<Pick<RequestMessage, 'method' | 'params'>>,
): Answer | undefined {
  const declared = declaredCapabilities(call);
  for (const question of questions) {
    const requiredCapabilities = missingCapabilities(question, declared);
    if (!requiredCapabilities) continue;
    const message = `The server needs ${question.method}, which the client did not declare.`;
    return {
      status: 400,
      error: { code: errorCodes.missingRequiredClientCapability, message, data: { requiredCapabilities } },
    };
  }
  return undefined;
}
