import { errors } from 'oidc-provider';

/**
 * Who may register clients (RFC 7591 section 3): anybody; anybody, and the operator approves each client before it is
 * used; who has an initial access token of the operator; nobody.
 */
export type RegistrationPolicy = 'open' | 'approval' | 'initial_access_token' | 'off';

/**
 * A client that may not be used: it waits for the operator, or was denied. The engine looks for the client in every
 * request and throws it there. The code is `access_denied` at the token endpoint as well: `invalid_client` and
 * `unauthorized_client` make clients throw their registration away, and each new one would wait again.
 */
export class ClientNotAdmitted extends errors.OIDCProviderError {
  override name = 'ClientNotAdmitted';
  readonly clientId: string;
  readonly reason: 'pending' | 'denied';
  constructor(clientId: string, reason: 'pending' | 'denied') {
    super(403, 'access_denied');
    this.clientId = clientId;
    this.reason = reason;
    this.error_description =
      reason === 'pending'
        ? `the client ${clientId} waits for the approval of the operator of this server; log in again once it is given`
        : `the operator of this server does not allow the client ${clientId}`;
    this.expose = true;
    this.allow_redirect = false;
  }
}
