import { type ClientContext, type Exchange, recordExchanges, toCurl } from '../../../client/index.ts';
import { type CommandIo, createPaint, type Paint, printable, printableLine } from '../../output.ts';

/** Maximum length of a shown body, in characters. */
const maxShown = 4000;

function comment(text: string, paint: Paint): string {
  const shown =
    text.length > maxShown ? `${text.slice(0, maxShown)}\n… ${text.length - maxShown} more` : text;
  return printable(shown)
    .split('\n')
    .map((line) => paint('dim', `# < ${line}`.trimEnd()))
    .join('\n');
}

/**
 * Writes an exchange so that the whole trace is a shell script which repeats the requests: each is a curl command with
 * its secrets as variables, and what came back is a comment (T-191).
 * @param exchange what was recorded
 * @param paint colours of the output
 */
function formatExchange(exchange: Exchange, paint: Paint): string {
  const { number, durationMs, request, response, failure } = exchange;
  const outcome = response ? String(response.status) : `failed: ${failure ?? 'no answer'}`;
  const { origin, pathname } = new URL(request.url);
  const title = `# ${number}. ${request.method} ${origin}${pathname} -> ${outcome} (${Math.round(durationMs)} ms)`;
  const isFine = response !== undefined && response.status < 400;
  const answer = response
    ? [
        ...response.headers.map(([name, value]) => `${name}: ${value}`),
        ...(response.body === undefined || response.body === '' ? [] : ['', response.body]),
        ...(response.truncated ? ['… cut here'] : []),
      ].join('\n')
    : '';
  return [
    paint(isFine ? 'green' : 'yellow', printable(title)),
    printable(toCurl(exchange)),
    ...(answer === '' ? [] : [comment(answer, paint)]),
    '',
    '',
  ].join('\n');
}

/**
 * Returns the command's io with a fetch that writes each HTTP exchange to standard error.
 * @param isOn false returns `io` unchanged
 */
export function withTrace(io: CommandIo, isOn = false): CommandIo {
  if (!isOn) return io;
  const paint = createPaint(io.stderr, io.env);
  const { fetch } = recordExchanges(io.fetch, {
    onExchange: (exchange) => void io.stderr.write(formatExchange(exchange, paint)),
  });
  return { ...io, fetch };
}

/**
 * Reports each tolerated mistake of a server once; with `--trace` as a comment of the script.
 * @param isTraced true if the output is a trace
 * @see docs/tolerances.md (FA-24)
 */
export function tellSlips(io: CommandIo, isTraced = false): NonNullable<ClientContext['tolerated']> {
  const paint = createPaint(io.stderr, io.env);
  const told = new Set<string>();
  return ({ tolerance, because }) => {
    const line = printableLine(`Tolerated (${tolerance}): ${because}`);
    if (told.has(line)) return;
    told.add(line);
    io.stderr.write(isTraced ? `${paint('yellow', `# ${line}`)}\n\n` : `${line}\n`);
  };
}
