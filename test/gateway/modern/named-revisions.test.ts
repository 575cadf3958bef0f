import { describe, expect, it } from 'vitest';
import { namedRevisions, namesModern } from '../../../src/gateway/modern/named-revisions.ts';

const error = (data?: unknown) => ({ error: { code: -32022, message: 'Unsupported', data } });

describe('C3-03, C3-08: the revisions a server speaks', () => {
  it('are those of its answer, or of the error with which it refuses another', () => {
    expect(namedRevisions({ result: { supportedVersions: ['2026-07-28', '2027-01-01'] } })).toEqual([
      '2026-07-28',
      '2027-01-01',
    ]);
    expect(namedRevisions(error({ supported: ['2025-11-25'] }))).toEqual(['2025-11-25']);
  });

  it.each([[{ result: {} }], [{ result: { supportedVersions: '2026-07-28' } }], [error()], [error({})]])(
    'are none where it names none: %j',
    (answer) => {
      expect([namedRevisions(answer), namesModern(answer)]).toEqual([undefined, false]);
    },
  );

  it('have 2026-07-28 among them or not', () => {
    const named = [['2026-07-28'], ['2025-11-25', '2026-07-28'], ['2025-11-25'], []];
    expect(named.map((supported) => namesModern(error({ supported })))).toEqual([true, true, false, false]);
  });
});
