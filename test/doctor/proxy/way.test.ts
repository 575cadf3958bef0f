import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/doctor/ask.ts';
import { documentOf, isPage, judgeUnanswered } from '../../../src/doctor/proxy/way.ts';

const answer = (text: string, status = 200, type = 'application/json'): Answer => ({
  kind: 'answered',
  method: 'GET',
  url: 'https://mcp.example.com/x',
  evidence: [],
  status,
  headers: new Headers({ 'content-type': type }),
  text,
  truncated: false,
});

describe('an answer', () => {
  it('is a document where it is a JSON object with status 200', () => {
    expect(documentOf(answer('{"a":1}'))).toEqual({ a: 1 });
    for (const other of [answer('{"a":1}', 404), answer('[]'), answer('null'), answer('<html>')])
      expect(documentOf(other)).toBeUndefined();
  });

  it('is a page where it says so', () => {
    expect(isPage(answer('', 404, 'Text/HTML; charset=utf-8'))).toBe(true);
    expect(isPage(answer('<html>', 404, 'text/plain'))).toBe(false);
  });

  it('that did not come is unknown, with the reason', () => {
    const none: Answer = {
      kind: 'unanswered',
      method: 'GET',
      url: 'u',
      evidence: [],
      reason: 'timed_out',
      why: 'too late',
    };
    expect(judgeUnanswered(none)).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringContaining('too late'),
    });
  });
});
