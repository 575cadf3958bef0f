/** An authorization request that waits for its answer. */
export interface AuthorizationRequest {
  /** What the user's browser has to open. */
  url: string;
  /** The `state` an answer must carry. */
  state: string;
}

/** Takes the user through one authorization request, and brings back the answer: by a browser, a paste, a test. */
export interface AuthorizationAgent {
  /** Redirect URI of this login; answers can be taken from now on. */
  redirectUri: string;
  /** Redirect URIs to register a client with, should one be registered; `redirectUri` has to be allowed by one of them. */
  registeredRedirectUris: readonly string[];
  /**
   * Waits for the answer. It may be called a second time, after the first has ended: a client that the authorization
   * server has forgotten is registered anew, and the user asked again.
   * @returns query of the redirect; it is not judged yet
   * @throws ClientError `login_timed_out`, `authorization_denied`
   */
  receive(request: AuthorizationRequest): Promise<URLSearchParams>;
}
