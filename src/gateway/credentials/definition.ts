/** Place of a credential in a request to the backend, or in its environment. */
export type CredentialPlace =
  /** A header of each request. */
  | { header: string; prefix?: string | undefined }
  /** A variable of the environment of its process. */
  | { env: string }
  /** A member of `_meta.auth` of each request. */
  | { auth: string };

/** Source of a credential. */
export type CredentialOrigin =
  /** Each person enters their own. */
  | 'person'
  /** A variable of the environment of the gateway; the same for everybody. */
  | { env: string }
  /** A file the operator keeps; the same for everybody. */
  | { file: string }
  /** The token an upstream gave for the person. */
  | { upstream: string; scopes?: readonly string[] | undefined };

/** One credential of a backend. */
export interface CredentialDefinition {
  /** Display name. */
  label?: string | undefined;
  /** Instructions for obtaining it. */
  help?: string | undefined;
  as: CredentialPlace;
  from: CredentialOrigin;
}
