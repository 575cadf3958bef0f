import { describe, expect, it } from 'vitest';
import { checkAccept } from '../../../src/mcp/http/dispatch.ts';
import { patience } from '../../support/patience.ts';

describe('Accept', () => {
  it.each<[string, string | undefined, boolean]>([
    ['POST', 'application/json, text/event-stream', true],
    ['POST', 'text/event-stream;q=0.5,APPLICATION/JSON', true],
    ['POST', '*/*', true],
    ['POST', 'application/*, text/*', true],
    ['POST', undefined, true],
    ['POST', 'application/json', false],
    ['POST', 'text/event-stream', false],
    ['POST', 'text/html', false],
    ['POST', 'application/json, text/event-stream;q=0', false],
    ['POST', '*/*, text/event-stream;q=0.00', false],
    ['POST', 'xapplication/json, xtext/event-stream', false],
    ['POST', '', false],
    ['GET', 'text/event-stream', true],
    ['GET', 'application/json', false],
    ['DELETE', 'text/html', true],
  ])('of %s %j is fine: %s (B3-02, B3-07)', (method, accept, fine) => {
    expect(checkAccept(method, accept)).toEqual(fine ? undefined : { reason: 'not_acceptable' });
  });

  it('is read in no time, however it is built (T-147)', () => {
    const started = performance.now();
    checkAccept('POST', `${'a/b;'.repeat(2000)}${' , '.repeat(2000)}q=0${'.0'.repeat(2000)}`);
    expect(performance.now() - started).toBeLessThan(patience(50));
  });
});
