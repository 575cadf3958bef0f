/** What an SDK's OAuth client provider keeps in the memory of one client; both SDKs take it structurally. */
export interface MemoryProvider<Information, Tokens, Discovery> {
  readonly redirectUrl: string;
  readonly clientMetadata: {
    client_name: string;
    redirect_uris: string[];
    grant_types: string[];
    response_types: string[];
    token_endpoint_auth_method: string;
  };
  state(): string;
  clientInformation(): Information | undefined;
  saveClientInformation(information: Information): void;
  tokens(): Tokens | undefined;
  saveTokens(tokens: Tokens): void;
  redirectToAuthorization(url: URL): void;
  saveCodeVerifier(verifier: string): void;
  codeVerifier(): string;
  discoveryState(): Discovery | undefined;
  saveDiscoveryState(state: Discovery): void;
  /** The last authorization URL the SDK wanted opened. */
  authorizationUrl(): string;
}

/**
 * Creates the storage an SDK asks its user for: what a desktop client keeps, and the URL it would open.
 * @param name what the client calls itself
 */
export function createMemoryProvider<Information, Tokens, Discovery>(
  name: string,
): MemoryProvider<Information, Tokens, Discovery> {
  const redirectUrl = 'http://localhost:53683/oauth/callback';
  let information: Information | undefined;
  let kept: Tokens | undefined;
  let verifier: string | undefined;
  let discovery: Discovery | undefined;
  let opened: URL | undefined;
  const required = <T>(value: T | undefined, what: string): T => {
    if (value === undefined) throw new Error(`the SDK asked for no ${what}`);
    return value;
  };
  return {
    redirectUrl,
    clientMetadata: {
      client_name: name,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state: () => 'the-state-of-the-test',
    clientInformation: () => information,
    saveClientInformation: (given) => {
      information = given;
    },
    tokens: () => kept,
    saveTokens: (given) => {
      kept = given;
    },
    redirectToAuthorization: (url) => {
      opened = url;
    },
    saveCodeVerifier: (given) => {
      verifier = given;
    },
    codeVerifier: () => required(verifier, 'code verifier'),
    discoveryState: () => discovery,
    saveDiscoveryState: (given) => {
      discovery = given;
    },
    authorizationUrl: () => required(opened, 'authorization URL').href,
  };
}
