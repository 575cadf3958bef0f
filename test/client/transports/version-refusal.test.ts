import { ProtocolError } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import {
  describeNoCommonRevision,
  revisionsOffered,
  speaksOlderRevision,
} from '../../../src/client/transports/version-refusal.ts';

const refusal = (data: unknown, code = -32022) => new ProtocolError(code, 'no', data);

describe('a refusal of a revision', () => {
  it('names the revisions of the server (C3-08)', () => {
    expect(revisionsOffered(refusal({ supported: ['2025-11-25', 7] }))).toEqual(['2025-11-25']);
    expect(revisionsOffered(refusal(undefined))).toEqual([]);
    expect(revisionsOffered(refusal({ supported: ['2025-11-25'] }, -32600))).toBeUndefined();
    expect(revisionsOffered(new Error('no'))).toBeUndefined();
  });

  it('may be an answer to initialize with a revision of nobody (FA-30)', () => {
    const error = new Error("Server's protocol version is not supported: 1999-01-01");
    expect([revisionsOffered(error), speaksOlderRevision(error)]).toEqual([['1999-01-01'], false]);
  });

  it('is no end where one of them is of the time of initialize (C3-08)', () => {
    expect(speaksOlderRevision(refusal({ supported: ['2099-01-01', '2024-11-05'] }))).toBe(true);
    expect(speaksOlderRevision(refusal({ supported: ['2099-01-01', '2026-07-28'] }))).toBe(false);
    expect(speaksOlderRevision(new Error('no'))).toBe(false);
  });

  it('is explained by what either side speaks', () => {
    expect(describeNoCommonRevision(['2099-01-01'])).toContain('only 2099-01-01');
    expect(describeNoCommonRevision([])).toContain('no revision of ours');
  });
});
