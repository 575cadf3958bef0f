import { expect } from 'vitest';
import type { Check, Finding } from '../../../src/doctor/check.ts';
import type { LoginMeans } from '../../../src/doctor/subject.ts';
import { examined } from './examine.ts';
import { type Fault, startServer, type TestServer } from './server.ts';

/** One fault, and what has to be said of it. */
export interface FaultCase {
  /** What is wrong, in words. */
  what: string;
  fault: Fault;
  /** The one check that finds it. */
  id: string;
  verdict: 'fail' | 'warn';
  /** What the sentence names: the values that decide. */
  names: (server: TestServer) => readonly (string | RegExp)[];
  /** What the fix names, where that matters. */
  fix?: (server: TestServer) => string | RegExp;
  /** Ids that are skipped because of it, at least. */
  skips?: readonly string[];
  issuerPath?: string;
  /** The URL that is called, where it is not the server's. */
  url?: (server: TestServer) => string;
  active?: boolean;
}

/**
 * Breaks one thing, examines the server, and requires that exactly this is found, named and explained: one finding, its
 * values, a fix, evidence, and every check skipped for a cause names this one.
 * @returns the finding
 */
export async function expectOneFault(
  one: FaultCase,
  checks: readonly Check[],
  login?: LoginMeans,
): Promise<Finding> {
  const server = await startServer({
    fault: one.fault,
    ...(one.issuerPath === undefined ? {} : { issuerPath: one.issuerPath }),
  });
  const report = await examined(one.url?.(server) ?? server.url, checks, {
    active: one.active ?? false,
    ...(login === undefined ? {} : { login }),
  });
  expect(report.bad()).toEqual([`${one.verdict} ${one.id}`]);
  const finding = report.finding(one.id);
  for (const name of one.names(server))
    expect(finding.saw).toMatch(name instanceof RegExp ? name : literal(name));
  const fix = one.fix?.(server);
  expect(finding.fix).toMatch(fix === undefined ? /\S/ : fix instanceof RegExp ? fix : literal(fix));
  expect(finding.evidence).not.toEqual([]);
  for (const number of finding.evidence ?? []) expect(report.exchanges[number - 1]?.number).toBe(number);
  const explained = report.findings.filter(({ because }) => because !== undefined);
  expect(explained.filter(({ because, verdict }) => because !== one.id || verdict !== 'skip')).toEqual([]);
  // Where clients stop at one thing, whatever they would have come to is no question of its own.
  const alive = report.findings.find(({ id }) => id === 'REG-ALIVE');
  if (one.verdict === 'fail') expect(alive?.verdict).not.toBe('unknown');
  for (const id of one.skips ?? []) expect(explained.map((finding) => finding.id)).toContain(id);
  return finding;
}

function literal(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
}
