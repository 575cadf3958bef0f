import { describe, expect, it } from 'vitest';
import { paramHeaders } from '../../../src/client/transports/param-headers.ts';

const schema = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    inner: { type: 'object', properties: { id: { type: 'string', 'x-mcp-header': 'Inner-Id' } } },
    other: { type: 'string' },
  },
};

describe('parameters that are headers', () => {
  it('are sent as text, wherever they stand below properties (B5-08)', () => {
    const args = { region: 'eu west', count: 42, dry: false, inner: { id: 'x' }, other: 'y' };
    expect(paramHeaders(schema, args)).toEqual({
      'mcp-param-Region': 'eu west',
      'mcp-param-Count': '42',
      'mcp-param-Dry': 'false',
      'mcp-param-Inner-Id': 'x',
    });
  });

  it('are not sent where they are absent, null or of no such type', () => {
    expect(paramHeaders(schema, { region: null, count: 1.5, dry: {} })).toEqual({});
    expect(paramHeaders(schema, undefined)).toEqual({});
    expect(paramHeaders(undefined, { region: 'a' })).toEqual({});
  });

  it.each([
    ['Zürich', '=?base64?WsO8cmljaA==?='],
    [' a', '=?base64?IGE=?='],
    ['a\r\nb: c', '=?base64?YQ0KYjogYw==?='],
    ['', '=?base64??='],
    ['=?base64?YQ==?=', '=?base64?PT9iYXNlNjQ/WVE9PT89?='],
  ])('are packed where a header cannot carry %j (B5-08)', (region, header) => {
    expect(paramHeaders(schema, { region })).toEqual({ 'mcp-param-Region': header });
  });

  it('need a name that is a token, and a simple type (B5-09)', () => {
    const wrong = {
      properties: {
        a: { type: 'string', 'x-mcp-header': 'a b' },
        b: { type: 'object', 'x-mcp-header': 'B' },
        c: { type: 'string', 'x-mcp-header': 'c\r\nd' },
      },
    };
    expect(paramHeaders(wrong, { a: 'x', b: 'x', c: 'x' })).toEqual({});
  });
});
