/** A private key as JSON Web Key, with the members that are text; `alg` says what it signs with (RFC 7517 section 4). */
export type PrivateJwk = { kty: string; alg?: string; kid?: string; [member: string]: string | undefined };

/** A client id at one authorization server. It is never shown to another (A5-10). */
export interface Registration {
  issuer: string;
  clientId: string;
  clientSecret?: string;
  /** Signs the client's assertions where it authenticates by `private_key_jwt` (RFC 7523 section 2.2). */
  privateKey?: PrivateJwk;
  /** End of the secret's life, epoch seconds; absent where it has none. */
  clientSecretExpiresAt?: number;
  /** The method the server assigned, e.g. `client_secret_basic`. */
  tokenEndpointAuthMethod?: string;
  redirectUris: string[];
  /** `given`: registered beforehand, by hand. `dynamic`: by RFC 7591. `metadata_document`: the id is the URL of its metadata. */
  source: 'given' | 'dynamic' | 'metadata_document';
}

/** The members of authorization server metadata that outlive a login. */
export type CredentialIssuer = {
  issuer: string;
  token_endpoint: string;
  revocation_endpoint?: string;
  token_endpoint_auth_methods_supported?: string[];
};

/** What one login gave: tokens of one issuer for one resource. */
export interface Credential {
  authorizationServer: CredentialIssuer;
  /** Resource indicator the tokens were issued for. */
  resource: string;
  /** Set where the user chose to leave the `resource` parameter out, which the authorization server refuses (CL-5). */
  withoutResource?: true;
  clientId: string;
  accessToken: string;
  /** Epoch seconds; absent where the server did not say. */
  expiresAt?: number;
  /** When to renew it, epoch seconds; where absent, a minute before its end. */
  renewAt?: number;
  refreshToken?: string;
  /** Granted scopes; absent where neither request nor answer named any. */
  scopes?: string[];
  /** The key the access token is bound to; without a proof signed by it the token is worth nothing (RFC 9449 section 5). */
  dpopKey?: PrivateJwk;
  /** Set where the client got it for itself, without a user: the grant is repeated when it ends. */
  grant?: RepeatableGrant;
  /** Set where it is a workload's, by the identity its platform gave it: only that identity brings another one (A13-10). */
  workload?: true;
}

/** A grant that needs no user, with what the client authenticates by (RFC 6749 section 4.4). */
export type RepeatableGrant = { type: 'client_credentials' } & Pick<
  Registration,
  'clientSecret' | 'privateKey' | 'tokenEndpointAuthMethod'
>;

/** What was chosen at a login, to be chosen again at the one that takes its place. */
export interface LoginChoices {
  /** Its token is bound to a key (RFC 9449). */
  dpop?: true;
  /** The authorization server was not told the `resource` (CL-5). */
  withoutResource?: true;
}

/** A login of a machine as itself: what it takes to log it in again. */
export interface MachineLogin {
  grant: 'client_credentials' | 'workload_identity';
  clientId: string;
  /** What it authenticated by. */
  proof: 'secret' | 'key' | 'assertion';
}

/** What is known of a login for the one that takes its place: no token, key or secret. */
export interface FormerLogin {
  /** Issuer of its token; what else is said here is good for this one alone. */
  issuer?: string | undefined;
  /** Set where it was a machine's. */
  machine?: MachineLogin | undefined;
  chosen?: LoginChoices | undefined;
}

/**
 * The key of a credential: issuer and resource together, so that neither can stand in for another (A3-09, T-184).
 * @param credential the credential
 */
export function credentialKey(credential: Pick<Credential, 'authorizationServer' | 'resource'>): string {
  return JSON.stringify([credential.authorizationServer.issuer, credential.resource]);
}

/** Where registrations and credentials are kept. */
export interface CredentialStore {
  /**
   * @param clientId where absent, the client of the next login is looked for
   * @returns the registration at this issuer
   */
  findRegistration(issuer: string, clientId?: string): Promise<Registration | undefined>;
  /**
   * Keeps a registration for the next logins at its issuer. The one before stays to be found by its client id as long as a
   * credential is kept that was issued to it.
   */
  saveRegistration(registration: Registration): Promise<void>;
  /** Drops the registration with this client id at this issuer. */
  forgetRegistration(issuer: string, clientId: string): Promise<void>;
  /** @param server canonical URL of an MCP server @returns the credential of its latest login */
  findCredential(server: string): Promise<Credential | undefined>;
  /**
   * Keeps a credential and makes it the one of this server, in place of any other. What {@link endCredential} has left is
   * forgotten.
   * @param renewed the credential it was renewed from; where the server has another one by now, which a login has put
   *   there meanwhile, it is kept for other servers that share it alone (CL-1)
   */
  saveCredential(server: string, credential: Credential, renewed?: Credential): Promise<void>;
  /** Drops a credential, if its access token is still this one: a newer one is somebody else's (A9-05). */
  forgetCredential(credential: Credential): Promise<void>;
  /** The same for one that its issuer has ended. What `formerLogin` says of it stays for its servers, until their next. */
  endCredential(credential: Credential): Promise<void>;
  /** @returns what the latest login of this server was like, also where it has ended */
  findFormerLogin(server: string): Promise<FormerLogin | undefined>;
  /**
   * Runs work that nobody else, in this process or another on the same store, may do for the same key meanwhile.
   * @param key see {@link credentialKey}; other work has keys of its own
   */
  exclusively<T>(key: string, work: () => Promise<T>): Promise<T>;
}
