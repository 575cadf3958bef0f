import { describe, expect, it } from 'vitest';
import { backendError, restartingError } from '../../../src/gateway/backends/backend-errors.ts';

describe('the error for a call a backend does not answer', () => {
  it('names the server, says what to do, and has a stable reason', () => {
    expect(backendError('backend_ended', 'Notes')).toEqual({
      code: -32603,
      message:
        'The MCP server Notes ended while the call ran, which may still have had its effect. Send the request again: the server is started anew.',
      data: { reason: 'backend_ended' },
    });
  });

  it('says when a server that failed is started again', () => {
    expect(restartingError('backend_not_started', 'Notes', 1001)).toEqual({
      code: -32603,
      message:
        'The MCP server Notes could not be started, and is started again in 2 s. Send the request again then.',
      data: { reason: 'backend_restarting', failure: 'backend_not_started', retryAfterSeconds: 2 },
    });
  });
});
