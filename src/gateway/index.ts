export type { BackendStatus, GatewayBackend } from './backends/gateway-backend.ts';
export { createRemoteBackend, type RemoteBackendOptions } from './backends/remote.ts';
export { createStdioBackend, type StdioBackendOptions } from './backends/stdio.ts';
export { createSteps, type Policy, type Steps, type StepsOptions } from './steps/index.ts';
export type { Answer, Next, Passing, Step } from './steps/step.ts';
export { withSteps } from './steps/with-steps.ts';
