import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import {
  type InitializeParams,
  type InitializeResult,
  isRecord,
  type JsonRpcError,
  legacyRevisions,
  newestLegacyRevision,
  type RequestMessage,
} from '../protocol.ts';

/**
 * Chooses the revision of one conversation with a shared server. The responses of the server do not depend on it: both
 * versions of the SDK write the results of all these revisions in one form.
 * @param requested the revision that the client asks for
 * @param answered the revision that the server negotiated
 * @param supported the revisions that the server declares; undefined if it declares none
 * @see MCP 2025-11-25 lifecycle "Version Negotiation"
 */
export function negotiateRevision(
  requested: string,
  answered: string,
  supported: readonly string[] = legacyRevisions,
): string {
  return legacyRevisions.includes(requested) && supported.includes(requested) ? requested : answered;
}

/**
 * Returns the `initialize` that a server of one conversation negotiates: a client that asks for a revision that is not
 * served here is offered the newest that is.
 * @see MCP 2025-11-25 lifecycle "Version Negotiation"
 */
export function withServedRevision(initialize: InitializeParams): InitializeParams {
  const { protocolVersion } = initialize;
  // The server rejects a value that is not a revision.
  if (typeof protocolVersion !== 'string' || legacyRevisions.includes(protocolVersion)) return initialize;
  return { ...initialize, protocolVersion: newestLegacyRevision };
}

/** Error for a conversation whose server chose a revision that is not served here. */
export function checkAnswered({ protocolVersion }: InitializeResult): JsonRpcError | undefined {
  if (legacyRevisions.includes(protocolVersion)) return undefined;
  return {
    code: errorCodes.internalError,
    message: 'The MCP server speaks no protocol revision that is served here.',
    data: { supported: legacyRevisions, answered: protocolVersion },
  };
}

/** Client capabilities for requests of the server. */
export interface ClientAbilities {
  readonly sampling: boolean;
  readonly samplingTools: boolean;
  readonly roots: boolean;
  readonly elicitationForm: boolean;
  readonly elicitationUrl: boolean;
}

/** The capabilities declared to a shared server. Each request to a client is checked against the client's own. */
export const allCapabilities = {
  sampling: { tools: {}, context: {} },
  roots: { listChanged: true },
  elicitation: { form: {}, url: {} },
};

/**
 * Reads the capabilities of `initialize`. `elicitation: {}` means forms, as in 2025-06-18.
 * @see MCP 2025-11-25 lifecycle "Capability Negotiation"
 */
export function readAbilities(capabilities: Record<string, unknown>): ClientAbilities {
  const { sampling, roots, elicitation } = capabilities;
  const elicitationUrl = isRecord(elicitation) && isRecord(elicitation.url);
  return {
    sampling: isRecord(sampling),
    samplingTools: isRecord(sampling) && isRecord(sampling.tools),
    roots: isRecord(roots),
    elicitationForm: isRecord(elicitation) && (isRecord(elicitation.form) || !elicitationUrl),
    elicitationUrl,
  };
}

/**
 * Returns the error for a request that needs a capability which the client did not declare; undefined if the client
 * declared it.
 */
export function checkAbility(
  abilities: ClientAbilities,
  { method, params = {} }: RequestMessage,
): JsonRpcError | undefined {
  switch (method) {
    case 'sampling/createMessage':
      if (!abilities.sampling) return unsupported('sampling');
      return usesTools(params) && !abilities.samplingTools ? unsupported('tools in sampling') : undefined;
    case 'roots/list':
      return abilities.roots ? undefined : unsupported('roots');
    case 'elicitation/create':
      if (!abilities.elicitationForm && !abilities.elicitationUrl) return unsupported('elicitation');
      if (params.mode === 'url')
        return abilities.elicitationUrl ? undefined : unsupported('elicitation by URL');
      return abilities.elicitationForm ? undefined : unsupported('elicitation by form');
    default:
      return undefined;
  }
}

/** Returns true if a request for sampling lets the model use tools. */
export function usesTools({ tools, toolChoice }: Record<string, unknown>): boolean {
  return tools !== undefined || toolChoice !== undefined;
}

function unsupported(what: string): JsonRpcError {
  return { code: errorCodes.methodNotFound, message: `The client does not support ${what}.` };
}

/**
 * The capabilities of Gatehouse's own requests, recognized by object identity: any server of the principal may answer
 * them, so that no server is made for them if there is one.
 */
export const anyCapabilities: Record<string, unknown> = Object.freeze({});
