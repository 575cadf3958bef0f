import { type MissingInput, ownData, withMissingInput } from '../../mcp/building-blocks.ts';
import type { JsonRpcError } from '../../mcp/protocol.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';

/** Reason why a caller's credentials are not available for a backend; it is `data.reason` of the error. */
type CredentialFailure =
  | 'credential_missing'
  | 'credential_refused'
  | 'credential_no_person'
  | 'credential_unavailable';

/** Names of a credential for users. */
interface NamedCredential {
  /** Display name of the backend. */
  backend: string;
  /** Display name of the credential. */
  label: string;
}

/** Builds the error for a caller that must enter something first, with the page for that if there is one. */
export function credentialMissing(
  { backend }: Pick<NamedCredential, 'backend'>,
  missing: MissingInput,
): JsonRpcError {
  const { message, url } = missing;
  return withMissingInput(
    {
      code: errorCodes.internalError,
      message: `The MCP server ${backend} cannot be used yet. ${message} Open ${url} in a browser, and send this request again afterwards.`,
      data: ownData({ reason: 'credential_missing' satisfies CredentialFailure, url }),
    },
    missing,
  );
}

/**
 * Builds the error for a caller whose own credential the backend rejects, with the page for entering another.
 * @param advice instruction for the page
 */
export function credentialRefused(
  { backend, label }: NamedCredential,
  advice: string,
  url: string,
): JsonRpcError {
  return {
    code: errorCodes.internalError,
    message: `The MCP server ${backend} does not accept ${label}. ${advice} Open ${url} in a browser, and send this request again afterwards.`,
    data: ownData({ reason: 'credential_refused' satisfies CredentialFailure, url }),
  };
}

/** Builds the error for a client that acts for itself if only a user can have the credential. */
export function noPerson({ backend, label }: NamedCredential): JsonRpcError {
  return {
    code: errorCodes.internalError,
    message: `The MCP server ${backend} needs ${label} of a person, and this client acts for itself. Have it log in as somebody.`,
    data: ownData({ reason: 'credential_no_person' satisfies CredentialFailure }),
  };
}

/** Builds the error for a credential that is temporarily not available. */
export function credentialUnavailable({ backend, label }: NamedCredential): JsonRpcError {
  return {
    code: errorCodes.internalError,
    message: `The MCP server ${backend} needs ${label}, which cannot be had just now. Try again in a minute.`,
    data: ownData({ reason: 'credential_unavailable' satisfies CredentialFailure }),
  };
}
