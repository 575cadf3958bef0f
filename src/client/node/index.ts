/** The parts of the client that need Node: the redirect listener, the browser and the token file. */
export { type Bridge, type BridgeOptions, openBridge } from './bridge/bridge.ts';
export { patientFetch } from './bridge/relay.ts';
export { openBrowser, readSurroundings, type Surroundings } from './browser.ts';
export { type CommandConnectionOptions, withCommandConnection } from './command-connection.ts';
export { type LockHolder, lifeOf, parseHolder } from './file-lock.ts';
export { gatehouseHome } from './home.ts';
export type { Keychain } from './keychain.ts';
export { KeychainError, systemKeychain } from './keychain.ts';
export { type LoginOptions, type LoginProgress, login } from './login.ts';
export { type LoginAgent, type LoginAgentOptions, openLoginAgent } from './login-agent.ts';
export { type LoopbackListener, loginTimeoutMs, openLoopback } from './loopback.ts';
export type { PasteTerminal } from './paste.ts';
export { findPortHolder, type PortHolder } from './port-holder.ts';
export { TokenFileError } from './private-file.ts';
export {
  createTokenFile,
  type KeptLogin,
  openTokenFile,
  sealings,
  type TokenFile,
  type TokenFileOptions,
  type TokenFileState,
  tokenFilePath,
} from './token-file.ts';
export type { Sealing } from './token-file-seal.ts';
