import { PassThrough, Writable } from 'node:stream';
import type { CommandIo } from '../../../src/cli/output.ts';
import { testIo } from './client-commands.ts';

/** Surroundings of a command with a person at the terminal, who answers each question. */
export function terminalIo(answers: readonly { to: RegExp; with: string }[]) {
  const { io, written } = testIo({ env: { NO_COLOR: '1', BROWSER: 'none' } });
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const waiting = [...answers];
  let from = 0;
  const stderr = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        written.stderr += String(chunk);
        const [next] = waiting;
        if (next?.to.test(written.stderr.slice(from))) {
          waiting.shift();
          from = written.stderr.length;
          setImmediate(() => stdin.write(next.with));
        }
        done();
      },
    }),
    { isTTY: true, columns: 100 },
  );
  const terminal: CommandIo = { ...io, stdin, stderr };
  return { io: terminal, written, unanswered: () => waiting.length };
}
