/**
 * Nobody can tell at the moment whether an access token stands: who would know does not answer. Nothing the caller did,
 * and no reason to throw the token away; the same request may succeed later. `app/errors` answers it with 503.
 */
export class StandingUnknown extends Error {
  override name = 'StandingUnknown';
  /** For Koa where nobody of ours answers: the message is for the caller. */
  readonly status = 503;
  readonly expose = true;
  readonly retryAfterSeconds: number;
  readonly headers: Readonly<Record<string, string>>;

  /**
   * @param message a sentence in ASCII for the caller, without secrets
   * @param retryAfterSeconds when it is worth to try again
   * @param options the cause, for the log alone
   */
  constructor(message: string, retryAfterSeconds: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
    this.headers = { 'Retry-After': String(retryAfterSeconds) };
  }
}
