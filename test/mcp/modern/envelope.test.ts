import { describe, expect, it } from 'vitest';
import type { Posted } from '../../../src/mcp/http/exchange.ts';
import { checkEnvelope, namesModernRevision } from '../../../src/mcp/modern/envelope.ts';
import { internalRequest } from '../../../src/mcp/modern/internal-call.ts';
import { readMessages } from '../../../src/mcp/reading/messages.ts';

const posted = (value: unknown): Posted => ({ value, messages: readMessages(value) as Posted['messages'] });
const request = internalRequest('tools/list', {});
const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
const withoutMeta = { ...request, params: {} };

describe('the envelope of a message (C3-01)', () => {
  it('is whole', () => {
    expect(checkEnvelope(headers, posted(request))).toBeUndefined();
    expect(namesModernRevision(headers, request)).toBe(true);
  });

  it.each<[string, Record<string, string>, unknown, number]>([
    ['no _meta', headers, withoutMeta, -32602],
    ['another version in the header', { ...headers, 'mcp-protocol-version': '2025-11-25' }, request, -32020],
    ['a batch', headers, [request], -32600],
    ['nothing that names a revision', {}, withoutMeta, -32022],
  ])('is refused with %s', (_what, sent, value, code) => {
    expect(checkEnvelope(sent, posted(value))).toMatchObject({ status: 400, error: { code } });
  });

  it('does not name the revision in one place only', () => {
    expect(namesModernRevision({}, request)).toBe(false);
    expect(namesModernRevision(headers, withoutMeta)).toBe(false);
    expect(namesModernRevision(headers, { ...withoutMeta, params: { _meta: null } })).toBe(false);
  });
});
