import { describe, expect, it } from 'vitest';
import {
  basicAuthorization,
  fieldValues,
  headerNamePattern,
  headerValuePattern,
  isOwnHeader,
} from '../../src/oauth/headers.ts';

it.each(['Host', 'content-length', 'TE', 'Mcp-Name', 'mcp-param-region', 'Proxy-Connection', 'proxy-x'])(
  '%s is a header that a request has of its own (T-159)',
  (name) => {
    expect(isOwnHeader(name)).toBe(true);
  },
);

it.each(['authorization', 'x-api-key', 'mcp-tenant', 'x-proxy-key', 'cookie'])(
  '%s is nothing that a request says itself',
  (name) => {
    expect(isOwnHeader(name)).toBe(false);
  },
);

it('client_secret_basic encodes what separates, and not what servers forget to decode', () => {
  const [scheme, credentials = ''] = basicAuthorization('a:b', '-._*~ ü').split(' ');
  expect([scheme, atob(credentials)]).toEqual(['Basic', 'a%3Ab:-._*%7E+%C3%BC']);
});

describe('the values of a header field', () => {
  const raw = ['Host', 'a.example', 'AUTHORIZATION', 'Bearer x', 'authorization', 'Bearer y', 'Hosts', 'z'];

  it('are found in any case, each as it was sent and in its order (T-101, T-107)', () => {
    expect(fieldValues(raw, 'authorization')).toEqual(['Bearer x', 'Bearer y']);
    expect(fieldValues(raw, 'host')).toEqual(['a.example']);
  });

  it('are none where the field was not sent, or is the value of another', () => {
    expect(fieldValues(raw, 'cookie')).toEqual([]);
    expect(fieldValues(['X-Name', 'host', 'X-Other', 'value'], 'host')).toEqual([]);
    expect(fieldValues([], 'host')).toEqual([]);
  });
});

describe('the form of a header', () => {
  it.each(['x-api-key', 'ETag', "!#$%&'*+.^_`|~-0"])('takes the name %s', (name) => {
    expect(headerNamePattern.test(name)).toBe(true);
  });

  it.each(['', 'x key', 'x:', 'x\r\ny', 'x\n', 'x\0', 'é', '"x"', 'x/y', '(x)', '[x]'])(
    'takes no name %j (T-157)',
    (name) => {
      expect(headerNamePattern.test(name)).toBe(false);
    },
  );

  it.each(['', 'a value', '\ta', 'caf\xe9', '"quoted", and more'])('takes the value %j', (value) => {
    expect(headerValuePattern.test(value)).toBe(true);
  });

  it.each(['a\r\nx: y', 'a\n', 'a\r', 'a\0b', 'a\x7f', '\u20ac'])('takes no value %j (T-157)', (value) => {
    expect(headerValuePattern.test(value)).toBe(false);
  });
});
