export { createAggregate } from './aggregate/aggregate.ts';
export { failureOutcomes } from './backends/backend-errors.ts';
export type { BackendStatus, GatewayBackend } from './backends/gateway-backend.ts';
export { createRemoteBackend, type RemoteBackendOptions } from './backends/remote/remote-backend.ts';
export { createStdioBackend, type StdioBackendOptions } from './backends/stdio/stdio-backend.ts';
export {
  type AssertCallerOptions,
  createAssertCaller,
  maxHeaderClaims,
} from './credentials/caller-assertion.ts';
export {
  checkFits,
  createCredentials,
  joinChanges,
  type PlacedValue,
} from './credentials/create-credentials.ts';
export type { PersonalCredentials } from './credentials/credentials.ts';
export { readOperatorValue } from './credentials/operator-value.ts';
export { createPersonValue, type EnteredValues } from './credentials/person-value.ts';
export { createUpstreamValue, type UpstreamTokenSource } from './credentials/upstream-value.ts';
export { withWaitingServers } from './credentials/waiting-server.ts';
export { type BackendTracer, createBackendSpans } from './steps/backend-spans.ts';
export type { CircuitRelay, CircuitState } from './steps/breaker.ts';
export {
  createGuards,
  createMemberPinning,
  createSteps,
  type Memory,
  type StepsOptions,
} from './steps/index.ts';
export { createOwnership, type TaskOwners } from './steps/ownership.ts';
export { withSteps } from './steps/with-steps.ts';
