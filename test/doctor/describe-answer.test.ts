import { expect, it } from 'vitest';
import type { Answer } from '../../src/doctor/ask.ts';
import { describeAnswer, mediaType } from '../../src/doctor/describe-answer.ts';

function answered(status: number, headers: Record<string, string> = {}): Answer & { kind: 'answered' } {
  const asked = { method: 'GET', url: 'https://a/', evidence: [1] };
  return { kind: 'answered', ...asked, status, headers: new Headers(headers), text: '', truncated: false };
}

it('an answer is described by what decides: status, type, target, or why there is none', () => {
  expect(describeAnswer(answered(404))).toBe('404');
  expect(describeAnswer(answered(200, { 'content-type': 'Text/HTML; charset=utf-8' }))).toBe('200 text/html');
  expect(describeAnswer(answered(200, { 'content-type': 'so what' }))).toBe('200 "so what"');
  expect(describeAnswer(answered(302, { location: '/login' }))).toBe('302 to "/login"');
  const none = { kind: 'unanswered' as const, method: 'GET', url: 'x', evidence: [] };
  expect(describeAnswer({ ...none, reason: 'unreachable', why: 'the connection was refused' })).toBe(
    'no answer (the connection was refused)',
  );
  expect(describeAnswer({ ...none, reason: 'refused', why: 'it is no URL' })).toBe('not asked: it is no URL');
  expect(mediaType(answered(200, { 'content-type': 'Application/JSON;x=1' }))).toBe('application/json');
});
