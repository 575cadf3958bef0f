import { describe, expect, it } from 'vitest';
import {
  bodyTooLarge,
  checkContentEncoding,
  checkContentLength,
  checkContentType,
} from '../../../src/mcp/http/dispatch.ts';

describe('the announced length', () => {
  it.each<[string | undefined, boolean]>([
    [undefined, true],
    ['0', true],
    ['100', true],
    ['101', false],
    ['1e9', false],
    ['99999999999999999999', false],
    ['x', false],
  ])('%j within 100 bytes: %s (B3-02, T-134)', (length, fine) => {
    expect(checkContentLength(length, 100)).toBe(fine ? undefined : bodyTooLarge);
  });
});

describe('the content type', () => {
  it.each<[string | undefined, string | undefined]>([
    ['application/json', undefined],
    ['Application/JSON; charset=UTF-8', undefined],
    ['application/json;charset="utf-8"', undefined],
    ['application/json; charset=utf8; x=y', undefined],
    ['application/json; charset=utf-7', 'charset_not_utf8'],
    ['application/json; charset=utf-16', 'charset_not_utf8'],
    ['application/json; charset=utf-8; charset=utf-7', 'charset_not_utf8'],
    ['application/json; charset=', 'charset_not_utf8'],
    ['application/jsonp', 'not_json_type'],
    ['application/json-rpc', 'not_json_type'],
    ['text/plain', 'not_json_type'],
    ['text/plain, application/json', 'not_json_type'],
    ['', 'not_json_type'],
    [undefined, 'not_json_type'],
  ])('%j gives %s (B3-02, T-138)', (type, reason) => {
    expect(checkContentType(type)?.reason).toBe(reason);
  });
});

describe('the content coding', () => {
  it.each<[string | undefined, string | undefined]>([
    [undefined, undefined],
    ['identity', undefined],
    ['gzip', 'body_is_encoded'],
    ['identity, gzip', 'body_is_encoded'],
  ])('%j gives %s (T-138)', (coding, reason) => {
    expect(checkContentEncoding(coding)?.reason).toBe(reason);
  });
});
