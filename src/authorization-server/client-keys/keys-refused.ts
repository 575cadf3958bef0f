import { errors } from 'oidc-provider';

/** Keys of a client that cannot be had. Its message is a sentence for the developer, in ASCII. */
export class ClientKeysRefused extends errors.OIDCProviderError {
  override name = 'ClientKeysRefused';
  /** Seconds after which they are asked for again. */
  readonly retryAfterSeconds: number;
  /** Whether the keys may be the same as before, and only cannot be fetched now. */
  readonly mayPass: boolean;
  /**
   * @param url where the keys should be; its host is named
   * @param reason what is wrong, as the end of a sentence
   */
  constructor(
    url: string,
    reason: string,
    { retryAfterSeconds, mayPass, cause }: { retryAfterSeconds: number; mayPass: boolean; cause?: unknown },
  ) {
    super(401, 'invalid_client', { cause });
    this.error_description = `the keys of the client at ${URL.parse(url)?.host ?? ''} cannot be used: ${reason}`;
    this.expose = true;
    this.retryAfterSeconds = retryAfterSeconds;
    this.mayPass = mayPass;
  }
}
