import type { Backend } from './backend.ts';
import { modernRevision } from './envelope.ts';

/** Revisions a server of an older era is served in. */
const olderRevisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/**
 * Answers for a server that does not speak 2026-07-28, so that its clients fall back to `initialize`.
 * @see MCP 2026-07-28 "Versioning" (B5-05, B5-15)
 */
export const notServed: Backend = {
  checksEnvelope: false,
  begin(call) {
    const data = { supported: olderRevisions, requested: modernRevision };
    const message = 'Unsupported protocol version. Send initialize to negotiate one.';
    call.answer({ status: 400, error: { code: -32022, message, data } });
    return () => {};
  },
  notify() {},
  async discover() {
    return { capabilities: {}, serverInfo: undefined };
  },
  async close() {},
};
