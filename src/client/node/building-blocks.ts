/** Parts of the client on Node.js for rooms that examine this machine. */

export { browserCommand, readSurroundings, type Surroundings } from './browser.ts';
export { lifeOf, parseHolder, staleLockMs } from './file-lock.ts';
export { systemKeychain } from './keychain.ts';
export { findPortHolder } from './port-holder.ts';
export { TokenFileError } from './private-file.ts';
export { createTokenFile, parseTokenFile, tokenFilePath } from './token-file.ts';
export { parseSealedText } from './token-file-seal.ts';
