import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Transport,
} from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import {
  brokeAtProbe,
  describeNoCommonRevision,
  explainHttpRefusal,
  isSessionLost,
  mayBeEventStreamServer,
  noEndpoint,
  revisionsOffered,
  speaksOlderRevision,
} from '../../../src/client/transports/connect-errors.ts';

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

describe('http refusal', () => {
  const url = 'https://mcp.example/mcp';

  const answered = (status: number, statusText: string) =>
    new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'Error POSTing to endpoint: {"error":"x"}', {
      status,
      statusText,
    });

  describe('an HTTP answer without MCP in it', () => {
    it.each([
      [404, 'Not Found', `${url} answered with 404 Not Found. Check the path of the URL.`],
      [503, '', `${url} answered with 503. Try again later.`],
    ])('with %i %s is told with its status, and what to do', (status, text, message) => {
      const error = answered(status, text);
      expect(explainHttpRefusal(error, url)).toMatchObject({ reason: 'server_error', message, cause: error });
    });

    it.each([answered(401, ''), answered(403, ''), new Error('x')])('stays as it is: %s', (error) => {
      expect(explainHttpRefusal(error, url)).toBe(error);
    });

    it('may be that of no MCP endpoint at all (B5-15)', () => {
      expect(noEndpoint(answered(404, 'Not Found'), url).message).toBe(
        `${url} is no MCP endpoint: POST is answered with 404, and GET opens no event stream. Check the path of the URL.`,
      );
    });
  });
});

describe('version refusal', () => {
  const refusal = (data: unknown, code = -32022) => new ProtocolError(code, 'no', data);

  describe('a refusal of a revision', () => {
    it('names the revisions of the server (C3-08)', () => {
      expect(revisionsOffered(refusal({ supported: ['2025-11-25', 7] }))).toEqual(['2025-11-25']);
      expect(revisionsOffered(refusal(undefined))).toEqual([]);
      expect(revisionsOffered(refusal({ supported: ['2025-11-25'] }, -32600))).toBeUndefined();
      expect(revisionsOffered(new Error('no'))).toBeUndefined();
    });

    it('may be an answer to initialize with a revision of nobody (FA-30)', () => {
      const error = new Error("Server's protocol version is not supported: 1999-01-01");
      expect([revisionsOffered(error), speaksOlderRevision(error)]).toEqual([['1999-01-01'], false]);
    });

    it('is no end where one of them is of the time of initialize (C3-08)', () => {
      expect(speaksOlderRevision(refusal({ supported: ['2099-01-01', '2024-11-05'] }))).toBe(true);
      expect(speaksOlderRevision(refusal({ supported: ['2099-01-01', '2026-07-28'] }))).toBe(false);
      expect(speaksOlderRevision(new Error('no'))).toBe(false);
    });

    it('is explained by what either side speaks', () => {
      expect(describeNoCommonRevision(['2099-01-01'])).toContain('only 2099-01-01');
      expect(describeNoCommonRevision([])).toContain('no revision of ours');
    });
  });
});

describe('session loss', () => {
  const within: Transport = {
    start: async () => undefined,
    send: async () => undefined,
    close: async () => undefined,
    sessionId: 's',
  };

  describe('a lost session', () => {
    it.each([
      ['404 (B3-11)', refused(404), true],
      [
        '400 that speaks of sessions',
        refused(400, '{"error":{"message":"No valid session ID provided"}}'),
        true,
      ],
      ['another 400', refused(400, 'bad JSON'), false],
      ['401', refused(401, 'session'), false],
      ['a failure of the network', new TypeError('fetch failed'), false],
      ['404 to a POST of HTTP+SSE', new Error('Error POSTing to endpoint (HTTP 404): x'), true],
      ['500 to a POST of HTTP+SSE', new Error('Error POSTing to endpoint (HTTP 500): 404'), false],
    ])('shows by %s: %#', (_name, error, lost) => {
      expect(isSessionLost(error, within)).toBe(lost);
    });

    it('needs a session that was there', () => {
      expect(isSessionLost(refused(404), { ...within, sessionId: undefined })).toBe(false);
    });
  });
});
