/** The members of authorization server metadata (RFC 8414 section 2) that Gatehouse reads or writes. */
export interface AuthorizationServerMetadata {
  issuer: string;
  authorization_endpoint?: string;
  token_endpoint?: string;
  registration_endpoint?: string;
  revocation_endpoint?: string;
  introspection_endpoint?: string;
  jwks_uri?: string;
  scopes_supported?: string[];
  response_types_supported?: string[];
  grant_types_supported?: string[];
  token_endpoint_auth_methods_supported?: string[];
  code_challenge_methods_supported?: string[];
  /** RFC 9449 section 5.1. */
  dpop_signing_alg_values_supported?: string[];
  /** RFC 9207 section 3. */
  authorization_response_iss_parameter_supported?: boolean;
  client_id_metadata_document_supported?: boolean;
  [member: string]: unknown;
}

/** Protected resource metadata (RFC 9728 section 2). */
export interface ProtectedResourceMetadata {
  resource: string;
  authorization_servers?: string[];
  scopes_supported?: string[];
  bearer_methods_supported?: string[];
  resource_name?: string;
  resource_documentation?: string;
  /** True if every token has to be bound to a key of the client (RFC 9728 section 2, RFC 9449). */
  dpop_bound_access_tokens_required?: boolean;
  /** Accepted signature algorithms of proofs (RFC 9728 section 2). */
  dpop_signing_alg_values_supported?: string[];
  [member: string]: unknown;
}

/** MCP extension for clients that act for themselves (A13-01). */
export const clientCredentialsExtension = 'io.modelcontextprotocol/oauth-client-credentials';

/** MCP extension for authorization by an organization (A13-04). */
export const enterpriseManagedExtension = 'io.modelcontextprotocol/enterprise-managed-authorization';
