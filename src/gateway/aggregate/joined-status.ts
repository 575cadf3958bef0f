import type { BackendStatus, GatewayBackend } from '../backends/gateway-backend.ts';

/** A backend among several: what is called by its key, and its name in errors and in the log. */
export interface NamedBackend {
  key: string;
  name: string;
  backend: GatewayBackend;
}

/** Joins how several backends stand: sums, the last failure of all, and each by its key. */
export function joinStatus(parts: readonly Pick<NamedBackend, 'key' | 'backend'>[]): BackendStatus {
  const each = parts.map(({ key, backend }) => [key, backend.status()] as const);
  const all = each.map(([, status]) => status);
  const states = all.map(({ state }) => state);
  const sum = (count: (status: BackendStatus) => number | undefined): number =>
    all.reduce((total, status) => total + (count(status) ?? 0), 0);
  const last = all
    .flatMap(({ failures }) => failures.last ?? [])
    .sort((a, b) => b.at - a.at)
    .at(0);
  return {
    kind: 'several',
    state: states.includes('failing') ? 'failing' : states.includes('running') ? 'running' : 'idle',
    processes: sum(({ processes }) => processes),
    connections: sum(({ connections }) => connections),
    failures: { count: sum(({ failures }) => failures.count), ...(last && { last }) },
    backends: Object.fromEntries(each),
  };
}
