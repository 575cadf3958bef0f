import type { Judgement, ProxyProduct } from './finding.ts';

/** Additions to a finding: lines to change by product, and exchanges other than those of the requested facts. */
export interface More {
  hints?: readonly { product: ProxyProduct; lines: string }[] | undefined;
  because?: string | undefined;
  evidence?: readonly number[] | undefined;
}

function judgement(
  verdict: Judgement['verdict'],
  saw: string,
  fix: string | undefined,
  more: More,
): Judgement {
  return {
    verdict,
    saw,
    ...(fix === undefined ? {} : { fix }),
    ...(more.hints === undefined || more.hints.length === 0 ? {} : { hints: more.hints }),
    ...(more.because === undefined ? {} : { because: more.because }),
    ...(more.evidence === undefined ? {} : { evidence: more.evidence }),
  };
}

/** The rule is kept. @param saw the values that show it */
export function pass(saw: string, more: More = {}): Judgement {
  return judgement('pass', saw, undefined, more);
}

/** The rule is broken, and clients stop because of it. @param fix what to change */
export function fail(saw: string, fix: string, more: More = {}): Judgement {
  return judgement('fail', saw, fix, more);
}

/** Some clients stop, or something works less well than it could. @param fix what to change */
export function warn(saw: string, fix: string, more: More = {}): Judgement {
  return judgement('warn', saw, fix, more);
}

/** The rule is about something this server does not have. */
export function skip(saw: string, more: More = {}): Judgement {
  return judgement('skip', saw, undefined, more);
}

/** Nobody can tell from here. */
export function unknown(saw: string, more: More = {}): Judgement {
  return judgement('unknown', saw, undefined, more);
}
