/**
 * The `resource` parameter of a request to an authorization server. It is always sent, unless the user has chosen to
 * leave it out for a server that refuses it: nothing then binds the token to the MCP server but its scopes (CL-5).
 * @param login the resource, and that choice
 * @see RFC 8707 section 2; MCP authorization "Resource Parameter Implementation" (A7-01)
 */
export function resourceParameter({
  resource,
  withoutResource,
}: {
  resource: string;
  withoutResource?: true | undefined;
}): { resource?: string } {
  return withoutResource ? {} : { resource };
}
