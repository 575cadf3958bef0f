import type { Check, Judgement } from '../../../src/doctor/check.ts';
import { openExamination } from '../../../src/doctor/examination.ts';
import type { Subject } from '../../../src/doctor/subject.ts';

/**
 * A subject outside of an examination, for one fact or check.
 * @param url URL of the server
 * @param options clock in epoch seconds, fetch
 */
export function subjectOf(
  url: string,
  options: { now?: number; fetch?: typeof globalThis.fetch; timeoutMs?: number } = {},
): Subject {
  const { now = Math.floor(Date.now() / 1000), fetch = globalThis.fetch, timeoutMs = 2000 } = options;
  return openExamination({ url, fetch, now: () => now, timeoutMs }).look().subject;
}

/** Judges with one of several checks. @throws Error where there is none with the id */
export async function judgedBy(checks: readonly Check[], id: string, subject: Subject): Promise<Judgement> {
  const check = checks.find((one) => one.id === id);
  if (!check) throw new Error(`no check ${id}`);
  return check.judge(subject);
}
