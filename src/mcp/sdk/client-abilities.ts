import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { JsonRpcError } from '../protocol.ts';
import type { RequestMessage } from '../reading/frames.ts';
import { isRecord } from '../reading/record.ts';

/** Capabilities that a client declared for requests of the server. */
export interface ClientAbilities {
  readonly sampling: boolean;
  readonly samplingTools: boolean;
  readonly roots: boolean;
  readonly elicitationForm: boolean;
  readonly elicitationUrl: boolean;
}

/** The capabilities a server that serves many is told of; each client's own are checked when it is asked. */
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
