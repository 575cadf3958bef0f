/** What a request names is not there, or not this person's: the same answer for both. */
export class PageMissing extends Error {
  override name = 'PageMissing';
}
