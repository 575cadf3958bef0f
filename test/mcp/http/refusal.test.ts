import { describe, expect, it } from 'vitest';
import { isRefusal, type Refusal, type RefusalReason, sendRefusal } from '../../../src/mcp/http/refusal.ts';

/** What goes out for a refusal. */
function sent(refusal: Refusal) {
  const calls: { status: number; body: unknown; headers: Readonly<Record<string, string>> }[] = [];
  sendRefusal(refusal, { json: (status, body, headers = {}) => void calls.push({ status, body, headers }) });
  const [call, ...more] = calls;
  if (!call || more.length > 0) throw new Error('expected one answer');
  return call;
}

const table: [RefusalReason, number, number][] = [
  ['method_not_allowed', 405, -32000],
  ['body_too_large', 413, -32000],
  ['body_cut_off', 400, -32700],
  ['not_json_type', 415, -32000],
  ['charset_not_utf8', 415, -32000],
  ['body_is_encoded', 415, -32000],
  ['not_acceptable', 406, -32000],
  ['json_not_acceptable', 406, -32000],
  ['not_json', 400, -32700],
  ['nested_too_deep', 400, -32600],
  ['too_many_values', 400, -32600],
  ['too_many_members', 400, -32600],
  ['name_too_long', 400, -32602],
  ['not_a_message', 400, -32600],
  ['empty_batch', 400, -32600],
  ['batch_too_long', 400, -32600],
  ['initialize_in_batch', 400, -32600],
  ['batch_not_in_this_revision', 400, -32600],
  ['initialize_incomplete', 400, -32602],
  ['initialize_too_large', 400, -32602],
  ['session_missing', 400, -32000],
  ['session_unknown', 404, -32001],
  ['session_moves', 503, -32000],
  ['event_unknown', 400, -32000],
  ['protocol_version_unknown', 400, -32000],
  ['too_many_sessions', 429, -32000],
  ['too_many_calls', 429, -32000],
  ['too_many_streams', 429, -32000],
  ['sessions_exhausted', 503, -32000],
  ['request_id_in_use', 400, -32600],
  ['insufficient_scope', 403, -32000],
  ['closing', 503, -32000],
];

describe('a refusal', () => {
  it.each(table)(
    'for %s is HTTP %i with JSON-RPC error %i and a sentence (B3-02, B3-03)',
    (reason, status, code) => {
      const answer = sent({ reason });
      expect(answer.status).toBe(status);
      expect(answer.body).toEqual({
        jsonrpc: '2.0',
        id: null,
        error: { code, message: expect.stringMatching(/\.$/) },
      });
    },
  );

  it('repeats the id of the request, adds headers, and gives data', () => {
    const answer = sent({
      reason: 'closing',
      id: 0,
      headers: { 'Retry-After': '5' },
      data: { a: 1 },
    });
    expect(answer.headers).toEqual({ 'Retry-After': '5' });
    expect(answer.body).toMatchObject({ id: 0, error: { data: { a: 1 } } });
  });

  it('is told from other results', () => {
    expect([{ reason: 'closing' }, { value: 1 }, Buffer.from(''), null, undefined].map(isRefusal)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
