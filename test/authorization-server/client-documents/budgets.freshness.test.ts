import { describe, expect, it } from 'vitest';
import { freshSeconds } from '../../../src/authorization-server/client-documents/budgets.ts';

const now = 1_800_000_000;
const date = (offset: number): string => new Date((now + offset) * 1000).toUTCString();

describe('a document is fresh', () => {
  it.each([
    [{ 'cache-control': 'max-age=600' }, 600],
    [{ 'cache-control': 'public, Max-Age="600", immutable' }, 600],
    [{ 'cache-control': 'max-age=600, s-maxage=900' }, 900],
    [{ 'cache-control': 'max-age=600', age: '200' }, 400],
    [{ 'cache-control': 'max-age=600', expires: date(9_000) }, 600],
    [{ expires: date(600) }, 600],
    [{ date: date(-100), expires: date(500) }, 600],
  ])('as long as its server says: %j (A5-08)', (headers, seconds) => {
    expect(freshSeconds(headers, now)).toBe(seconds);
  });

  it.each([
    [{ 'cache-control': 'max-age=31536000' }],
    [{ 'cache-control': 'max-age=99999999999999999999999' }],
    [{ expires: date(31_536_000) }],
  ])('for a day at most: %j (T-075)', (headers) => {
    expect(freshSeconds(headers, now)).toBe(86_400);
  });

  it.each([
    [{ 'cache-control': 'no-store' }],
    [{ 'cache-control': 'no-cache, max-age=600' }],
    [{ 'cache-control': 'max-age=0' }],
    [{ 'cache-control': 'max-age=600', age: '9000' }],
    [{ expires: '0' }],
    [{ expires: date(-600) }],
  ])('for half a minute at least: %j (T-075)', (headers) => {
    expect(freshSeconds(headers, now)).toBe(30);
  });

  it.each([
    [{}],
    [{ 'cache-control': 'public' }],
    [{ 'cache-control': 'x-max-age=9' }],
    [{ 'cache-control': 'max-age=soon' }],
  ])('for five minutes where its server says nothing of it: %j', (headers) => {
    expect(freshSeconds(headers, now)).toBe(300);
  });
});
