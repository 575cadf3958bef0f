/** A client ID metadata document that is not taken. The message is a sentence for the person or the developer, in ASCII. */
export class DocumentRefused extends Error {
  override name = 'DocumentRefused';
  /** Seconds after which it may go better; undefined where it will not until somebody changes something. */
  readonly retryAfterSeconds: number | undefined;
  /** Whether the cause is that too much was asked of us, and not the document's host. */
  readonly isOurLimit: boolean;
  constructor(
    message: string,
    {
      retryAfterSeconds,
      isOurLimit = false,
      cause,
    }: { retryAfterSeconds?: number; isOurLimit?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.retryAfterSeconds = retryAfterSeconds;
    this.isOurLimit = isOurLimit;
  }
}
