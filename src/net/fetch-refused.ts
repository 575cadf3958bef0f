/** Reasons for a failed guarded fetch. The last three may be temporary; the others depend on the target. */
export type FetchFault =
  /** The URL is not https, or has a user name. */
  | 'not_https'
  /** The host has an address that is not on the public internet. */
  | 'not_public'
  /** The certificate is not valid for this host. */
  | 'certificate'
  /** A redirect, if redirects are not accepted. */
  | 'redirected'
  /** The body is too large, by its announced or actual length. */
  | 'too_large'
  /** The body is compressed, which was not requested. */
  | 'encoded'
  /** The host has no address, or does not respond with HTTP. */
  | 'unreachable'
  | 'timeout'
  /** The limit of concurrent and waiting fetches of the caller or host is reached. */
  | 'busy';

/** A guarded fetch failed. The message contains no byte of the response. */
export class FetchRefused extends Error {
  override name = 'FetchRefused';
  readonly fault: FetchFault;
  constructor(fault: FetchFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
  /** True if the same fetch may succeed later. */
  get mayPass(): boolean {
    return this.fault === 'unreachable' || this.fault === 'timeout' || this.fault === 'busy';
  }
}
