import { callModern } from './modern.ts';
import type { Principal } from './principals.ts';
import { callRest } from './rest.ts';
import { callInSession } from './sessions.ts';
import { callOnStream } from './sse.ts';
import { callStateless } from './stateless.ts';
import type { Tally } from './tally.ts';

/** How a principal calls over one transport. */
export interface Calling {
  port: number;
  principal: Principal;
  /** How many calls to make. */
  count: number;
  tally: Tally;
}

/** A transport: how one principal calls over it, and which of its gatehouses serves it. */
export interface Transport {
  name: string;
  door: 'stored' | 'none';
  /** Whether the server can ask the client something, and tell it of progress. */
  hasBackChannel: boolean;
  call(calling: Calling): Promise<void>;
}

const session = (revision: string, batchSize = 1) => ({
  name: `sessions of ${revision}${batchSize > 1 ? ', in batches' : ''}`,
  door: 'stored' as const,
  hasBackChannel: true,
  call: (calling: Calling) => callInSession(calling, { revision, batchSize }),
});

/** All transports. */
export const transports: readonly Transport[] = [
  { name: '2026-07-28', door: 'stored', hasBackChannel: true, call: callModern },
  session('2025-11-25'),
  session('2025-06-18'),
  session('2025-03-26'),
  session('2025-03-26', 20),
  { name: 'requests without sessions', door: 'none', hasBackChannel: false, call: callStateless },
  { name: 'HTTP+SSE', door: 'stored', hasBackChannel: true, call: callOnStream },
  { name: 'Rest', door: 'stored', hasBackChannel: false, call: callRest },
];
