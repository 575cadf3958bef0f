import type { EndpointLimit } from '../endpoint-limits/endpoint-limit.ts';
import type { Step } from './endpoint-guards.ts';

/** An endpoint: its methods, its limits, and every step of a request to it in order. */
export interface Endpoint {
  methods: readonly string[];
  /** What bounds how often it is asked. They stand in front of the steps, and there is no endpoint without one. */
  limits: readonly [EndpointLimit, ...EndpointLimit[]];
  steps: readonly Step[];
}

/** Endpoints that differ in their path alone. */
export interface EndpointFamily extends Omit<Endpoint, 'steps'> {
  /** The path, with `<…>` for the part that varies. */
  path: string;
  pattern: RegExp;
  steps: (path: string) => readonly Step[];
}
