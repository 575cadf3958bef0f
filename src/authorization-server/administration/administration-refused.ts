/**
 * Why an operator's request cannot be carried out. Scripts may rely on them: what is named is not there, is there already, will
 * not do as it was given, or does not allow it as things stand.
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
