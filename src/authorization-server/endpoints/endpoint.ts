import type { Step } from './endpoint-guards.ts';

/** An endpoint: its methods, and every step of a request to it in order. */
export interface Endpoint {
  methods: readonly string[];
  steps: readonly Step[];
}
