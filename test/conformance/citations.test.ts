import { describe, expect, it } from 'vitest';
import { citations, citedIn } from './citations.ts';
import { deliveredIds, deliveredSections, exceptions, promises } from './delivered.ts';
import { parseRequirements, parseThreats, requirements, threats } from './requirements.ts';

const known = new Map([...requirements, ...threats].map((line) => [line.id, line.text]));

describe('the manifest', () => {
  it('names each id once', () => {
    const ids = [...requirements, ...threats].map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  it('holds every threat from T-001 to T-218', () => {
    const all = Array.from({ length: 218 }, (_, at) => `T-${String(at + 1).padStart(3, '0')}`);
    expect(threats.map(({ id }) => id)).toEqual(all);
  });

  it('numbers the requirements of each group without a gap', () => {
    const last = new Map<string, number>();
    for (const { id } of requirements) {
      const [group = '', number] = id.split('-');
      expect(Number(number), id).toBe((last.get(group) ?? 0) + 1);
      last.set(group, Number(number));
    }
  });

  it('refuses a row with a missing cell, an unknown revision or an unknown kind', () => {
    expect(() => parseRequirements('| A1-01 | M | AS | text |')).toThrow('needs 5 cells');
    expect(() => parseRequirements('| A1-01 | M | AS | 27 | text |')).toThrow('the revision 27');
    expect(() => parseThreats('| T-001 | A | maybe | text |')).toThrow('neither a row nor a promise');
  });
});

describe('what is delivered', () => {
  it('counts a line of the authorization server from 2025-03-26 on, no client or earlier line, and a line of no revision', () => {
    const [section] = deliveredSections;
    const line = { id: 'A3-01', level: 'M', role: 'RS/AS', revisions: ['11' as const], text: '' };
    expect(section && promises(section, line)).toBe(true);
    expect(section && promises(section, { ...line, role: 'CL' })).toBe(false);
    expect(section && promises(section, { ...line, revisions: ['24'] })).toBe(false);
    expect(section && promises(section, { ...line, revisions: [] })).toBe(true);
    expect(section && promises(section, { ...line, id: 'A10-01' })).toBe(false);
  });

  it('gives each exception an id of the manifest and a reason', () => {
    expect(exceptions.filter(({ id, reason }) => !known.has(id) || reason.trim() === '')).toEqual([]);
  });

  it('excepts nothing that a test cites by now', () => {
    const cited = citations(['test']);
    expect(exceptions.filter(({ id }) => cited.has(id))).toEqual([]);
  });
});

describe('citations', () => {
  it('are found in titles and comments, and not inside longer words', () => {
    expect(citedIn("it('refuses it (A6-08, T-187)') // B12-04; see C1-01.")).toEqual([
      'A6-08',
      'T-187',
      'B12-04',
      'C1-01',
    ]);
    expect(citedIn('0000-A6-08, A6-081, XT-187, T-1870, D1-01')).toEqual([]);
  });

  it('name only ids of the manifest', () => {
    const unknown = [...citations(['src', 'test'])].filter(([id]) => !known.has(id));
    expect(unknown.map(([id, files]) => `${id} in ${files.join(', ')}`)).toEqual([]);
  });

  it('cover every delivered id', () => {
    const cited = citations(['test']);
    const missing = deliveredIds().filter((id) => !cited.has(id));
    expect(missing.map((id) => `${id} ${known.get(id)}`)).toEqual([]);
  });
});
