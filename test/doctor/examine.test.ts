import { describe, expect, it } from 'vitest';
import type { Check, Judgement } from '../../src/doctor/check.ts';
import { chooseChecks, examine } from '../../src/doctor/examine.ts';
import type { Subject } from '../../src/doctor/subject.ts';
import { startServer } from './support/server.ts';

type Judge = Judgement | ((subject: Subject) => Promise<Judgement>);

function check(id: string, judge: Judge, more: Partial<Check> = {}): Check {
  return {
    id,
    section: 'reach',
    title: `The rule of ${id}`,
    clause: 'RFC 0000 section 1',
    judge: typeof judge === 'function' ? judge : async () => judge,
    ...more,
  };
}

const fine: Judgement = { verdict: 'pass', saw: 'fine' };
const broken: Judgement = { verdict: 'fail', saw: 'broken', fix: 'mend it' };

async function run(checks: readonly Check[], more: Partial<Parameters<typeof examine>[0]> = {}) {
  const server = await startServer();
  const report = await examine({ url: server.url, fetch, now: () => 1_800_000_000, checks, ...more });
  return { server, report, verdicts: report.findings.map(({ id, verdict }) => `${id} ${verdict}`) };
}

describe('an examination of checks', () => {
  it('runs them in their order and says what each came to', async () => {
    const { report, server } = await run([check('A', fine), check('B', broken)]);
    expect(report).toMatchObject({ url: server.url, startedAt: 1_800_000_000, active: false });
    expect(report.findings).toMatchObject([
      { id: 'A', verdict: 'pass', title: 'The rule of A', clause: 'RFC 0000 section 1' },
      { id: 'B', verdict: 'fail', saw: 'broken', fix: 'mend it' },
    ]);
  });

  it('names the exchanges a check looked at where it names none itself', async () => {
    const probe = async (subject: Subject): Promise<number> => {
      const response = await subject.context.fetch(subject.url);
      await response.text();
      return response.status;
    };
    const judge = async (subject: Subject): Promise<Judgement> => {
      await subject.fact(probe);
      return fine;
    };
    const { report } = await run([
      check('A', judge),
      check('B', judge),
      check('C', async () => ({ ...fine, evidence: [7] })),
      check('D', fine),
    ]);
    expect(report.findings.map(({ evidence }) => evidence)).toEqual([[1], [1], [7], []]);
    expect(report.exchanges).toHaveLength(1);
  });

  it('calls a check that throws unknown, never pass', async () => {
    const { report } = await run([
      check('A', async () => {
        throw new Error('nobody foresaw this');
      }),
    ]);
    expect(report.findings[0]).toMatchObject({
      verdict: 'unknown',
      saw: 'It could not be judged: nobody foresaw this',
    });
  });

  it('calls a check that does not end unknown, and goes on', async () => {
    const { verdicts } = await run([
      check('A', () => new Promise(() => undefined), { patienceMs: 20 }),
      check('B', fine),
    ]);
    expect(verdicts).toEqual(['A unknown', 'B pass']);
  });

  it('skips what needs a failed check, and names the first cause through a chain', async () => {
    const { report, verdicts } = await run([
      check('A', broken),
      check('B', fine, { needs: ['A'] }),
      check('C', fine, { needs: ['B'] }),
      check('D', fine),
    ]);
    expect(verdicts).toEqual(['A fail', 'B skip', 'C skip', 'D pass']);
    expect(report.findings.map(({ because }) => because)).toEqual([undefined, 'A', 'A', undefined]);
  });

  it('goes on behind a check that was skipped for a reason of its own, or is unknown', async () => {
    const { verdicts } = await run([
      check('A', { verdict: 'skip', saw: 'not applicable' }),
      check('B', { verdict: 'unknown', saw: 'cannot tell' }),
      check('C', fine, { needs: ['A', 'B'] }),
    ]);
    expect(verdicts).toEqual(['A skip', 'B unknown', 'C pass']);
  });

  it('asks active checks only where that is allowed', async () => {
    const writes = check('A', fine, { active: true });
    expect((await run([writes])).report.findings[0]).toMatchObject({
      verdict: 'skip',
      saw: expect.stringContaining('--active'),
    });
    expect((await run([writes], { active: true })).verdicts).toEqual(['A pass']);
  });

  it('reports only what was asked for, and the cause that explains it', async () => {
    const checks = [
      check('A', fine),
      check('B', broken, { needs: ['A'] }),
      check('C', fine, { needs: ['B'] }),
      check('D', fine),
    ];
    expect((await run(checks, { only: ['C'] })).verdicts).toEqual(['B fail', 'C skip']);
    expect((await run(checks, { only: ['D'] })).verdicts).toEqual(['D pass']);
  });

  it('ends early when it is told to, and cleans up all the same', async () => {
    const stop = new AbortController();
    const cleaned: string[] = [];
    const { verdicts } = await run(
      [
        check('A', async (subject) => {
          subject.atEnd(async () => cleaned.push('A'));
          stop.abort();
          return new Promise(() => undefined);
        }),
        check('B', fine),
      ],
      { signal: stop.signal },
    );
    expect(verdicts).toEqual(['A unknown', 'B unknown']);
    expect(cleaned).toEqual(['A']);
  });

  it('tells which check runs', async () => {
    const told: string[] = [];
    await run([check('A', fine), check('B', fine)], {
      onCheck: ({ id }, position, count) => told.push(`${position}/${count} ${id}`),
    });
    expect(told).toEqual(['1/2 A', '2/2 B']);
  });
});

describe('the choice of checks', () => {
  function check(id: string, ...needs: string[]): Check {
    return {
      id,
      section: 'reach',
      title: id,
      clause: '',
      needs,
      judge: async () => ({ verdict: 'pass', saw: '' }),
    };
  }

  const checks = [check('A'), check('B', 'A'), check('C', 'B'), check('D')];
  const ids = (running: readonly Check[]): string => running.map(({ id }) => id).join('');

  describe('the choice of checks', () => {
    it('is all of them unless told', () => {
      const { asked, running } = chooseChecks(checks, {});
      expect([...asked]).toEqual(['A', 'B', 'C', 'D']);
      expect(ids(running)).toBe('ABCD');
    });

    it('runs what the wanted ones need too, before them', () => {
      const { asked, running } = chooseChecks(checks, { only: ['C'] });
      expect([...asked]).toEqual(['C']);
      expect(ids(running)).toBe('ABC');
    });

    it('leaves out what is not wanted, even where another needs it', () => {
      const { asked, running } = chooseChecks(checks, { skip: ['B'] });
      expect([...asked]).toEqual(['A', 'C', 'D']);
      expect(ids(running)).toBe('ACD');
    });

    it('names the ids that do not exist', () => {
      expect(() => chooseChecks(checks, { only: ['A', 'X'], skip: ['Y'] })).toThrow(
        'There is no check X, Y.',
      );
    });
  });
});
