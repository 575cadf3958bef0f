/** The parts of the client that need Node: the redirect listener, the browser and the token file. */
export { gatehouseHome } from './home.ts';
export { type LoginOptions, type LoginProgress, login } from './login.ts';
export { type LoginAgent, type LoginAgentOptions, openLoginAgent } from './login-agent.ts';
export { type LoopbackListener, loginTimeoutMs, openLoopback } from './loopback.ts';
export { openBrowser } from './open-browser.ts';
export type { PasteTerminal } from './paste.ts';
export { TokenFileError } from './private-file.ts';
export { readSurroundings, type Surroundings } from './surroundings.ts';
export { createTokenFile, tokenFilePath } from './token-file.ts';
