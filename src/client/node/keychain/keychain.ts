/**
 * A place of the operating system that keeps a key for its user and gives it to no other one. It is asked for one key
 * of 32 bytes only: what many programs keep there has tight limits on size, and one file can be replaced as a whole.
 *
 * It is reached by the program each system has for it and not by a native module: secrets go through standard input and
 * output, never through arguments, and nothing has to be compiled, loaded or trusted beside the system itself.
 */
export interface Keychain {
  kind: 'secret-service' | 'macos-keychain' | 'windows-dpapi';
  /** What people call it. */
  name: string;
  /**
   * Keeps a new key.
   * @returns what leads to it again; it is no secret
   * @throws KeychainError
   */
  keep(key: Buffer): Promise<string>;
  /**
   * @param reference see `keep`
   * @returns the key; undefined where the keychain has none of this reference
   * @throws KeychainError where it is locked or out of reach
   */
  find(reference: string): Promise<Buffer | undefined>;
}
