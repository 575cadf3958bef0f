import { type CommandIo, createPaint, printableLine } from './output.ts';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 80;

/** A line is cut to this where the terminal does not say how wide it is. */
const defaultColumns = 80;

/** A line on the terminal that moves while something is waited for. */
export interface ProgressLine {
  /** Says what is waited for now. */
  say(text: string): void;
  /** Takes the line away while something else is written. */
  pause(): void;
  /** Takes the line away for good. */
  end(): void;
}

const nothing: ProgressLine = { say: () => undefined, pause: () => undefined, end: () => undefined };

/**
 * Begins a progress line on standard error; where no person watches, nothing is written.
 * @param io the surroundings
 * @param text what is waited for
 */
export function startProgressLine({ stderr, env }: CommandIo, text: string): ProgressLine {
  if (!stderr.isTTY || env.TERM === 'dumb') return nothing;
  const paint = createPaint(stderr, env);
  let shown = text;
  let frame = 0;
  const draw = (): void => {
    const room = (stderr.columns ?? defaultColumns) - 3;
    const line = printableLine(shown).slice(0, room);
    stderr.write(`\r\u001b[2K${paint('cyan', frames[frame++ % frames.length] ?? '')} ${line}`);
  };
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => {
    draw();
    timer ??= setInterval(draw, frameMs).unref();
  };
  const pause = (): void => {
    if (!timer) return;
    clearInterval(timer);
    timer = undefined;
    stderr.write('\r\u001b[2K');
  };
  begin();
  return {
    say(next) {
      shown = next;
      begin();
    },
    pause,
    end: pause,
  };
}
