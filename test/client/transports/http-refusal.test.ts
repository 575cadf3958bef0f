import { SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { explainHttpRefusal, noEndpoint } from '../../../src/client/transports/http-refusal.ts';

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
