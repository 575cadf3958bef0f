import { expect, it } from 'vitest';
import { joinStatus } from '../../../src/gateway/aggregate/aggregate.ts';
import type { BackendStatus } from '../../../src/gateway/index.ts';

const part = (key: string, status: BackendStatus) => ({
  key,
  backend: {
    status: () => status,
    source: { sharing: 'principal' as const, create: () => never() },
    close() {},
  },
});
function never(): never {
  throw new Error('nobody calls it');
}

it('several backends stand as the worst of them, with the sums of all and each by its key', () => {
  const program: BackendStatus = {
    kind: 'stdio',
    state: 'running',
    processes: 2,
    failures: { count: 1, last: { reason: 'backend_ended', at: 5 } },
  };
  const remote: BackendStatus = {
    kind: 'http',
    state: 'failing',
    connections: 3,
    failures: { count: 2, last: { reason: 'backend_unreachable', at: 9 } },
  };
  const idle: BackendStatus = { kind: 'sse', state: 'idle', failures: { count: 0 } };
  expect(joinStatus([part('a', program), part('b', remote), part('c', idle)])).toEqual({
    kind: 'several',
    state: 'failing',
    processes: 2,
    connections: 3,
    failures: { count: 3, last: { reason: 'backend_unreachable', at: 9 } },
    backends: { a: program, b: remote, c: idle },
  });
  expect(joinStatus([part('a', program), part('c', idle)]).state).toBe('running');
  expect(joinStatus([part('c', idle)])).toMatchObject({ state: 'idle', failures: { count: 0 } });
});
