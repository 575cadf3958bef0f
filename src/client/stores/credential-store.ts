/**
 * A private key as JSON Web Key, with text members only; `alg` is its signature algorithm (RFC 7517 section
 * 4).
 */
export type PrivateJwk = { kty: string; alg?: string; kid?: string; [member: string]: string | undefined };

/** A client id at one authorization server. It is never sent to another (A5-10). */
export interface Registration {
  issuer: string;
  clientId: string;
  clientSecret?: string;
  /** Signs the client's assertions if it authenticates with `private_key_jwt` (RFC 7523 section 2.2). */
  privateKey?: PrivateJwk;
  /** Expiry of the secret, epoch seconds; absent if it does not expire. */
  clientSecretExpiresAt?: number;
  /** The method that the server assigned, e.g. `client_secret_basic`. */
  tokenEndpointAuthMethod?: string;
  redirectUris: string[];
  /**
   * `given`: registered by hand. `dynamic`: by RFC 7591. `metadata_document`: the id is the URL of its
   * metadata.
   */
  source: 'given' | 'dynamic' | 'metadata_document';
}

/** The members of authorization server metadata that are stored with a credential. */
export type CredentialIssuer = {
  issuer: string;
  token_endpoint: string;
  revocation_endpoint?: string;
  token_endpoint_auth_methods_supported?: string[];
};

/** The result of one login: tokens of one issuer for one resource. */
export interface Credential {
  authorizationServer: CredentialIssuer;
  /** The resource indicator that the tokens were issued for. */
  resource: string;
  /**
   * Set if the user disabled the `resource` parameter, because the authorization server rejects it (CL-5).
   */
  withoutResource?: true;
  clientId: string;
  accessToken: string;
  /** Epoch seconds; absent if the server did not tell. */
  expiresAt?: number;
  /** Time of renewal, epoch seconds; if absent, a minute before expiry. */
  renewAt?: number;
  refreshToken?: string;
  /** Granted scopes; absent if neither request nor response named any. */
  scopes?: string[];
  /**
   * The key that the access token is bound to; the token cannot be used without a proof by this key (RFC 9449
   * section 5).
   */
  dpopKey?: PrivateJwk;
  /**
   * Set if the client got the token for itself, without a user: the grant is repeated when the token expires.
   */
  grant?: RepeatableGrant;
  /**
   * Set for the credential of a workload: only the identity from its platform can get another one (A13-10).
   */
  workload?: true;
}

/** A grant that needs no user, with the client's credentials (RFC 6749 section 4.4). */
export type RepeatableGrant = { type: 'client_credentials' } & Pick<
  Registration,
  'clientSecret' | 'privateKey' | 'tokenEndpointAuthMethod'
>;

/** Choices at a login that the next one repeats. */
export interface LoginChoices {
  /** The token is bound to a key (RFC 9449). */
  dpop?: true;
  /** The `resource` parameter is omitted (CL-5). */
  withoutResource?: true;
}

/** The login of a machine as itself, with the data to repeat it. */
export interface MachineLogin {
  grant: 'client_credentials' | 'workload_identity';
  clientId: string;
  /** The method of authentication. */
  proof: 'secret' | 'key' | 'assertion';
}

/** The data of a login that its successor may need. It contains no token, key or secret. */
export interface FormerLogin {
  /** Issuer of its token; the other members apply to this issuer only. */
  issuer?: string | undefined;
  /** Set if a machine logged in as itself. */
  machine?: MachineLogin | undefined;
  chosen?: LoginChoices | undefined;
}

/**
 * Returns the key of a credential: issuer and resource together, so that neither can be confused with another
 * (A3-09, T-184).
 */
export function credentialKey(credential: Pick<Credential, 'authorizationServer' | 'resource'>): string {
  return JSON.stringify([credential.authorizationServer.issuer, credential.resource]);
}

/** A store of registrations and credentials. */
export interface CredentialStore {
  /**
   * Finds the registration at an issuer.
   * @param clientId if absent, the client of the next login
   */
  findRegistration(issuer: string, clientId?: string): Promise<Registration | undefined>;
  /**
   * Stores a registration for the next logins at its issuer. The earlier one can be found by its client id as
   * long as a credential is stored that was issued to it.
   */
  saveRegistration(registration: Registration): Promise<void>;
  /** Deletes the registration with this client id at this issuer. */
  forgetRegistration(issuer: string, clientId: string): Promise<void>;
  /**
   * Finds the credential of the latest login.
   * @param server canonical URL of an MCP server
   */
  findCredential(server: string): Promise<Credential | undefined>;
  /**
   * Stores a credential as the only one of this server. The record of an ended login is deleted, see {@link
   * endCredential}.
   * @param renewed the credential that was renewed; if the server has another one since, because a login
   *   replaced it, the new one is stored only for other servers that share the renewed one (CL-1)
   */
  saveCredential(server: string, credential: Credential, renewed?: Credential): Promise<void>;
  /**
   * Deletes a credential, if its access token is still this one: a newer one belongs to another login
   * (A9-05).
   */
  forgetCredential(credential: Credential): Promise<void>;
  /**
   * Deletes a credential that its issuer has ended. Its `formerLogin` is kept for its servers until their
   * next login.
   */
  endCredential(credential: Credential): Promise<void>;
  /** Finds the latest login to this server, even if it has ended. */
  findFormerLogin(server: string): Promise<FormerLogin | undefined>;
  /**
   * Runs work under a lock for this key, in this process and in others on the same store.
   * @param key see {@link credentialKey}; other work has keys of its own
   */
  exclusively<T>(key: string, work: () => Promise<T>): Promise<T>;
}
