/** Why a guarded fetch gave nothing. The last three may be better another time; the others are what the target is. */
export type FetchFault =
  /** Not an https URL, or one with a user name in it. */
  | 'not_https'
  /** The host is, or has among its addresses, one that is not of the public internet. */
  | 'not_public'
  /** The certificate is not one for this host. */
  | 'certificate'
  /** A redirect, if the target was named and is not to be another. */
  | 'redirected'
  /** More bytes than allowed, by its own word or in fact. */
  | 'too_large'
  /** Compressed, though that was not asked for. */
  | 'encoded'
  /** The host has no address, or nothing answers there as HTTP asks. */
  | 'unreachable'
  | 'timeout'
  /** The caller or the host has as many fetches under way, and waiting, as it may have. */
  | 'busy';

/** A guarded fetch that gave nothing. The message is a sentence without any byte of the answer. */
export class FetchRefused extends Error {
  override name = 'FetchRefused';
  readonly fault: FetchFault;
  constructor(fault: FetchFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
  /** Whether the same fetch may go well a little later. */
  get mayPass(): boolean {
    return this.fault === 'unreachable' || this.fault === 'timeout' || this.fault === 'busy';
  }
}
