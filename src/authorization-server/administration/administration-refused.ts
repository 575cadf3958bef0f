/** An operator's request that cannot be carried out; the message says why. */
export class AdministrationRefused extends Error {
  override name = 'AdministrationRefused';
}
