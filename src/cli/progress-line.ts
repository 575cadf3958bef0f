import { type CommandIo, createPaint, printableLine } from './output.ts';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 80;

/** Width of a terminal that does not report its width. */
const defaultColumns = 80;

/** A line on the terminal that moves while a command waits. */
export interface ProgressLine {
  /** Changes the text. */
  say(text: string): void;
  /** Removes the line while something else is written. */
  pause(): void;
  /** Removes the line for good. */
  end(): void;
}

const nothing: ProgressLine = { say: () => undefined, pause: () => undefined, end: () => undefined };

/**
 * Starts a progress line on standard error. Writes nothing unless it is a terminal.
 * @param text what the command waits for
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
