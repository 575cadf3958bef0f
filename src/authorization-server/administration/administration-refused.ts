/**
 * Reason why an operator's request was rejected. Scripts may rely on them: the named thing does not exist, exists
 * already, is invalid, or does not allow the operation in its present state.
 */
export type AdministrationReason = 'not_found' | 'already_exists' | 'invalid' | 'not_possible';

/** An operator's request that cannot be carried out; the message says why. */
export class AdministrationRefused extends Error {
  override name = 'AdministrationRefused';
  readonly reason: AdministrationReason;

  /** @param message a sentence, without secrets */
  constructor(reason: AdministrationReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
