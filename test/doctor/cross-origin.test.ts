import { describe, expect, it } from 'vitest';
import type { Answer } from '../../src/doctor/ask.ts';
import { exposes, mayRead, preflightFault } from '../../src/doctor/cross-origin.ts';

function answered(status: number, headers: Record<string, string>): Answer {
  const asked = { method: 'OPTIONS', url: 'https://a/', evidence: [1] };
  return { kind: 'answered', ...asked, status, headers: new Headers(headers), text: '', truncated: false };
}

const silent: Answer = {
  kind: 'unanswered',
  method: 'OPTIONS',
  url: 'https://a/',
  evidence: [],
  reason: 'unreachable',
  why: 'the connection was refused',
};

const any = { 'access-control-allow-origin': '*' };

describe('what a browser lets a page do', () => {
  it('reads what is for all, or for its origin', () => {
    expect(mayRead(answered(200, any))).toBe(true);
    expect(mayRead(answered(200, { 'access-control-allow-origin': 'http://localhost:6274' }))).toBe(true);
    expect(mayRead(answered(200, { 'access-control-allow-origin': 'https://other.example' }))).toBe(false);
    expect(mayRead(answered(200, {}))).toBe(false);
    expect(mayRead(silent)).toBe(false);
  });

  it('sees fields that are exposed', () => {
    const answer = answered(401, { 'access-control-expose-headers': 'A, WWW-Authenticate' });
    expect(exposes(answer, 'www-authenticate')).toBe(true);
    expect(exposes(answer, 'Mcp-Session-Id')).toBe(false);
    expect(exposes(answered(401, { 'access-control-expose-headers': '*' }), 'x')).toBe(true);
    expect(exposes(silent, 'x')).toBe(false);
  });

  it.each([
    ['no 2xx', answered(404, any), 'POST', [], 'OPTIONS is answered with 404'],
    ['no answer', silent, 'POST', [], 'OPTIONS is answered with no answer (the connection was refused)'],
    ['no origin', answered(204, {}), 'POST', [], 'Access-Control-Allow-Origin is missing'],
    ['no method', answered(204, any), 'DELETE', [], 'Access-Control-Allow-Methods lacks DELETE'],
    [
      'no field',
      answered(204, any),
      'POST',
      ['content-type'],
      'Access-Control-Allow-Headers lacks content-type',
    ],
    [
      'a wildcard, which never stands for Authorization',
      answered(204, { ...any, 'access-control-allow-headers': '*' }),
      'POST',
      ['authorization', 'content-type'],
      'Access-Control-Allow-Headers lacks authorization',
    ],
  ])('stops at a preflight with %s', (_what, answer, method, headers, fault) => {
    expect(preflightFault(answer, method, headers)).toBe(fault);
  });

  it('sends after a preflight that allows method and fields', () => {
    const answer = answered(204, {
      ...any,
      'access-control-allow-methods': 'GET, DELETE',
      'access-control-allow-headers': 'Authorization, Content-Type',
    });
    expect(preflightFault(answer, 'DELETE', ['authorization', 'content-type'])).toBeUndefined();
    expect(preflightFault(answered(204, any), 'POST', [])).toBeUndefined();
  });
});
