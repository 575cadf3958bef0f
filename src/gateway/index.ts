export type { BackendStatus, GatewayBackend } from './backends/gateway-backend.ts';
export { createStdioBackend, type StdioBackendOptions } from './backends/stdio.ts';
