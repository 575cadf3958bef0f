import type { Exchange } from '../client/index.ts';
import { type Check, type Finding, type Judgement, skip, unknown } from './check.ts';
import { type Examination, type ExaminationOptions, openExamination } from './examination.ts';
import { urlWithoutSecrets, withoutSecrets } from './without-secrets.ts';

/** Result of an examination. */
export interface Report {
  /** The URL as given, but without secrets. */
  url: string;
  /** Epoch seconds. */
  startedAt: number;
  /** True if registrations and logins were allowed. */
  active: boolean;
  /** True if it was stopped early. */
  stopped: boolean;
  /** Findings in the order of the checks. */
  findings: readonly Finding[];
  /** All exchanges without secrets. `Finding.evidence` has their numbers. */
  exchanges: readonly Exchange[];
}

/** Options of an examination. */
interface ExamineOptions extends ExaminationOptions {
  /** Checks in their order; a check follows those that it needs. */
  checks: readonly Check[];
  /**
   * Ids of the checks to run; all by default. Their prerequisites also run, and are reported if they explain a result.
   */
  only?: readonly string[] | undefined;
  /** Ids of checks that do not run. */
  skip?: readonly string[] | undefined;
  /** Stops the examination early: checks that did not run are `unknown`. */
  signal?: AbortSignal | undefined;
  /** Called before each check. */
  onCheck?: ((check: Check, position: number, count: number) => void) | undefined;
}

/** Maximum time for one check by default, in milliseconds. */
const defaultPatienceMs = 60_000;

/** Maximum number of exchanges as evidence of a finding that names none itself. */
const maxEvidence = 12;

/** Returns the first cause among the needed checks: the failed one itself, or the cause of a skipped one. */
function causeOf(check: Check, findings: ReadonlyMap<string, Finding>): string | undefined {
  for (const id of check.needs ?? []) {
    const finding = findings.get(id);
    if (finding?.verdict === 'fail') return finding.because ?? id;
    if (finding?.verdict === 'skip' && finding.because !== undefined) return finding.because;
  }
  return undefined;
}

async function judge(check: Check, examination: Examination, signal: AbortSignal): Promise<Judgement> {
  const { subject, seen } = examination.look();
  const patienceMs = check.patienceMs ?? defaultPatienceMs;
  let stop = (): void => undefined;
  const cut = new Promise<Judgement>((resolve) => {
    const timer = setTimeout(
      () => resolve(unknown(`It took longer than ${patienceMs / 1000} seconds.`)),
      patienceMs,
    );
    const aborted = (): void => resolve(unknown('The examination was stopped.'));
    signal.addEventListener('abort', aborted, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
    };
  });
  const judged = Promise.resolve()
    .then(() => check.judge(subject))
    .catch((error: unknown): Judgement => {
      const why = error instanceof Error ? error.message : String(error);
      return unknown(`It could not be judged: ${why}`);
    });
  const judgement = await Promise.race([judged, cut]);
  stop();
  return { evidence: [...seen].sort((a, b) => a - b).slice(0, maxEvidence), ...judgement };
}

/**
 * Examines a server: runs the checks one after another, each with a time limit. A check that throws is `unknown`, never
 * `pass`; a check that needs a failed one is skipped with the cause. At the end registrations and tokens are removed
 * from the server.
 * @throws RangeError if `only` or `skip` name an unknown check
 */
export async function examine(options: ExamineOptions): Promise<Report> {
  const { asked, running } = chooseChecks(options.checks, options);
  const signal = options.signal ?? new AbortController().signal;
  const examination = openExamination(options);
  const startedAt = options.now();
  const findings = new Map<string, Finding>();
  for (const [at, check] of running.entries()) {
    const { id, section, title, clause } = check;
    const because = causeOf(check, findings);
    let judgement: Judgement;
    if (signal.aborted) judgement = unknown('The examination was stopped.');
    else if (because !== undefined)
      judgement = skip(`There is nothing to look at until ${because} is mended.`, { because });
    else if (check.active && options.active !== true)
      judgement = skip('It would write at the server, so it runs only with --active.');
    else {
      options.onCheck?.(check, at + 1, running.length);
      judgement = await judge(check, examination, signal);
    }
    findings.set(id, withoutSecrets({ id, section, title, clause, ...judgement }, options.url));
  }
  await examination.finish();
  const causes = new Set(
    [...findings.values()].filter(({ id }) => asked.has(id)).map(({ because }) => because),
  );
  return {
    url: urlWithoutSecrets(options.url),
    startedAt,
    active: options.active ?? false,
    stopped: signal.aborted,
    findings: [...findings.values()].filter(({ id }) => asked.has(id) || causes.has(id)),
    exchanges: examination.exchanges,
  };
}

/** The checks to run, and those to report. */
interface Choice {
  /** Ids to report. */
  asked: ReadonlySet<string>;
  /** The requested checks and those that they need, in order. */
  running: readonly Check[];
}

/**
 * Chooses checks.
 * @param checks all checks, in order
 * @param wishes ids to run (`only`) and to leave out (`skip`)
 * @throws RangeError with the unknown ids
 */
export function chooseChecks(
  checks: readonly Check[],
  wishes: { only?: readonly string[] | undefined; skip?: readonly string[] | undefined },
): Choice {
  const byId = new Map(checks.map((check) => [check.id, check]));
  const { only, skip = [] } = wishes;
  const unknown = [...(only ?? []), ...skip].filter((id) => !byId.has(id));
  if (unknown.length > 0) throw new RangeError(`There is no check ${unknown.join(', ')}.`);
  const asked = new Set((only ?? [...byId.keys()]).filter((id) => !skip.includes(id)));
  const needed = new Set<string>();
  const need = (id: string): void => {
    if (needed.has(id) || skip.includes(id)) return;
    needed.add(id);
    for (const before of byId.get(id)?.needs ?? []) need(before);
  };
  for (const id of asked) need(id);
  return { asked, running: checks.filter(({ id }) => needed.has(id)) };
}
