import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { brokeAtProbe, mayBeEventStreamServer } from '../../../src/client/transports/probe-verdict.ts';

const refused = (status: number, text = '', code = SdkErrorCode.ClientHttpNotImplemented): SdkHttpError =>
  new SdkHttpError(code, 'refused', { status, text });

describe('a server that refuses initialize', () => {
  it.each([400, 404, 405, 406, 410, 415, 422])('with %s may be one of HTTP+SSE (B6-01)', (status) => {
    expect(mayBeEventStreamServer(refused(status, '<p>'))).toBe(true);
  });

  it.each([401, 403, 407, 408, 429, 500, 502])('with %s is none (B6-01)', (status) => {
    expect(mayBeEventStreamServer(refused(status))).toBe(false);
  });

  it('with an error of 2026-07-28 is none (B5-15)', () => {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 0, error: { code: -32022, message: 'x' } });
    expect(mayBeEventStreamServer(refused(400, text))).toBe(false);
    expect(mayBeEventStreamServer(refused(400, '{"error":{"code":-32600}}'))).toBe(true);
    expect(mayBeEventStreamServer(new Error('x'))).toBe(false);
  });
});

describe('a server that breaks at server/discover', () => {
  it('shows by a 5xx, or by an answer that is no message', () => {
    const probe = SdkErrorCode.EraNegotiationFailed;
    expect(brokeAtProbe(refused(500, '', probe))).toBe(true);
    const page = new SdkError(SdkErrorCode.ClientHttpUnexpectedContent, 'a page');
    expect(brokeAtProbe(new SdkError(probe, 'unusable', {}, { cause: page }))).toBe(true);
    expect(brokeAtProbe(new SdkError(probe, 'unusable', {}, { cause: new SyntaxError('x') }))).toBe(true);
  });

  it('does not show by a server that cannot be reached, or by a refusal', () => {
    const probe = SdkErrorCode.EraNegotiationFailed;
    expect(brokeAtProbe(new SdkError(probe, 'x', {}, { cause: new TypeError('fetch failed') }))).toBe(false);
    expect(brokeAtProbe(refused(401, '', SdkErrorCode.ClientHttpAuthentication))).toBe(false);
    expect(brokeAtProbe(new Error('x'))).toBe(false);
  });
});
