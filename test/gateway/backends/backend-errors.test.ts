import { describe, expect, it } from 'vitest';
import {
  backendError,
  failureOfAnswer,
  restartingError,
} from '../../../src/gateway/backends/backend-errors.ts';

describe('the error for a call a backend does not answer', () => {
  it('names the server, says what to do, and has a stable reason', () => {
    expect(backendError('backend_ended', 'Notes')).toEqual({
      code: -32603,
      message:
        'The MCP server Notes ended while the call ran. Look whether it had its effect before you send it again; the server is started anew.',
      data: { reason: 'backend_ended' },
    });
  });

  it('says when a server that failed is started again', () => {
    expect(restartingError('backend_not_started', 'Notes', 1001)).toEqual({
      code: -32603,
      message:
        'The MCP server Notes could not be started, and is started again in 2 s. Its operator finds the reason in the log of the server; send the request again when it is mended.',
      data: { reason: 'backend_restarting', failure: 'backend_not_started', retryAfterSeconds: 2 },
    });
  });

  it.each(['backend_not_started', 'backend_start_timed_out', 'backend_ended', 'backend_failed'] as const)(
    'tells nobody to send a request again for ever where it fails each time (%s)',
    (failure) => {
      const { message } = restartingError(failure, 'Notes', 60_000);
      expect(message).toMatch(/again in 60 s\..*its operator finds the reason in the log/i);
    },
  );

  it.each(['backend_ended', 'backend_timed_out', 'backend_call_timed_out'] as const)(
    'tells nobody to do twice what may have had its effect (%s)',
    (failure) => {
      const { message } = backendError(failure, 'Notes');
      expect(message).toMatch(/Look whether .* had its effect before you send it again/);
      expect(message).not.toMatch(/Send the request again|try again/i);
    },
  );
});

describe('the failure for an unreadable response', () => {
  it.each([
    ['nested_too_deep', 'backend_answer_too_large'],
    ['too_many_values', 'backend_answer_too_large'],
    ['too_many_members', 'backend_answer_too_large'],
    ['not_json', 'backend_answer_unreadable'],
    ['not_a_message', 'backend_answer_unreadable'],
  ] as const)('an answer that is refused as %s is told as %s', (reason, failure) => {
    expect(failureOfAnswer(reason)).toBe(failure);
  });
});
