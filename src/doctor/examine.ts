import type { Exchange } from '../client/index.ts';
import { type Check, type Finding, type Judgement, skip, unknown } from './check.ts';
import { type Examination, type ExaminationOptions, openExamination } from './examination.ts';
import { urlWithoutSecrets, withoutSecrets } from './without-secrets.ts';

/** Result of an examination. */
export interface Report {
  /** URL as it was given, but for secrets in it. */
  url: string;
  /** Epoch seconds. */
  startedAt: number;
  /** True if clients could be registered and logins made. */
  active: boolean;
  /** True if it was ended early. */
  stopped: boolean;
  /** In the order in which the checks ran. */
  findings: readonly Finding[];
  /** Everything that went over the wire, without secrets. `Finding.evidence` has their numbers. */
  exchanges: readonly Exchange[];
}

/** Target, checks and listeners of an examination. */
interface ExamineOptions extends ExaminationOptions {
  /** In the order in which they run; a check stands behind those it needs. */
  checks: readonly Check[];
  /**
   * Ids of the checks to run; all by default. Their prerequisites also run, and are reported if they explain a result.
   */
  only?: readonly string[] | undefined;
  /** Ids of checks not to run. */
  skip?: readonly string[] | undefined;
  /** Ends the examination early: what did not run is `unknown`. */
  signal?: AbortSignal | undefined;
  /** Told before a check runs. */
  onCheck?: ((check: Check, position: number, count: number) => void) | undefined;
}

/** Longest time for one check in milliseconds, unless it says otherwise. */
const defaultPatienceMs = 60_000;

/** Most exchanges named as evidence of a finding that names none itself. */
const maxEvidence = 12;

/** The first cause among what a check needs: the failed one itself, or what that one was skipped because of. */
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
 * Examines a server: runs the checks one after another, each in bounded time. A check that breaks is `unknown`, never
 * `pass`; one that needs a failed one is skipped and says because of which. At the end what was left behind at the
 * server is taken back.
 * @param options server, means and checks
 * @throws RangeError if `only` or `skip` name a check that does not exist
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

/** The checks to run, and the requested ones among them. */
interface Choice {
  /** Ids to report. */
  asked: ReadonlySet<string>;
  /** The checks to run in their order: those asked for, and what they need. */
  running: readonly Check[];
}

/**
 * Chooses among the checks.
 * @param checks all there are, in their order
 * @param wishes `only` these, but not `skip`
 * @throws RangeError that names the ids that do not exist
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
