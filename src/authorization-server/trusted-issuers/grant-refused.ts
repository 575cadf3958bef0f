import { errors } from 'oidc-provider';
import type { ClientKeysRefused } from '../client-keys/keys-refused.ts';

/**
 * An assertion that is refused (RFC 7523 section 3.1).
 * @param fault what is wrong, as the end of a sentence that begins with "the assertion"
 */
export function assertionRefused(fault: string): errors.InvalidGrant {
  const refusal = new errors.InvalidGrant(fault);
  refusal.error_description = `the assertion ${fault}`;
  return refusal;
}

/** Keys of an issuer that cannot be had now: nothing is wrong with the assertion, which can be sent again. */
export class IssuerKeysMissing extends errors.OIDCProviderError {
  override name = 'IssuerKeysMissing';
  readonly retryAfterSeconds: number;
  constructor(issuer: string, cause: ClientKeysRefused) {
    super(503, 'temporarily_unavailable', { cause });
    this.expose = true;
    this.retryAfterSeconds = cause.retryAfterSeconds;
    this.error_description = `the keys of ${issuer} cannot be had now; send the assertion again in ${cause.retryAfterSeconds} seconds`;
  }
}
