/** The parts of the client that need Node: the redirect listener, the browser and the token file. */
export { type Bridge, type BridgeOptions, openBridge } from './bridge/bridge.ts';
export { patientFetch } from './bridge/patient-fetch.ts';
export { type CommandConnectionOptions, withCommandConnection } from './command-connection.ts';
export { gatehouseHome } from './home.ts';
export type { Keychain } from './keychain/keychain.ts';
export { KeychainError } from './keychain/run-program.ts';
export { systemKeychain } from './keychain/system-keychain.ts';
export { type LockHolder, lifeOf, parseHolder } from './lock-holder.ts';
export { type LoginOptions, type LoginProgress, login } from './login.ts';
export { type LoginAgent, type LoginAgentOptions, openLoginAgent } from './login-agent.ts';
export { type LoopbackListener, loginTimeoutMs, openLoopback } from './loopback.ts';
export { openBrowser } from './open-browser.ts';
export { openTokenFile, sealings } from './open-token-file.ts';
export type { PasteTerminal } from './paste.ts';
export { findPortHolder, type PortHolder } from './port-holder.ts';
export { TokenFileError } from './private-file.ts';
export { readSurroundings, type Surroundings } from './surroundings.ts';
export {
  createTokenFile,
  type KeptLogin,
  type TokenFile,
  type TokenFileOptions,
  type TokenFileState,
  tokenFilePath,
} from './token-file.ts';
export type { Sealing } from './token-file-seal.ts';
