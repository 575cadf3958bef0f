/** The extension by which a client that acts for itself gets in (A13-01). */
export const clientCredentialsExtension = 'io.modelcontextprotocol/oauth-client-credentials';

/** The extension by which an organization decides who gets in (A13-04). */
export const enterpriseManagedExtension = 'io.modelcontextprotocol/enterprise-managed-authorization';
