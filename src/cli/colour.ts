import type { TextSink } from './output.ts';

/** SGR parameters that begin and end a style (ECMA-48 section 8.3.117). */
const styles = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/** What a text can look like on a terminal. */
export type Style = keyof typeof styles;

/** Puts a text in a style, or leaves it as it is. The text has to be fit for a terminal already. */
export type Paint = (style: Style, text: string) => string;

/**
 * Says how to paint for an output: on a terminal only, unless the environment says otherwise.
 * @param sink where the text goes
 * @param env `FORCE_COLOR` paints everywhere, `NO_COLOR` nowhere; the first goes before the second
 * @see https://no-color.org, https://force-color.org
 */
export function createPaint(sink: TextSink, env: Readonly<Record<string, string | undefined>>): Paint {
  const { FORCE_COLOR: force = '', NO_COLOR: no = '', TERM: term } = env;
  const forced = force === '' ? undefined : force !== '0' && force !== 'false';
  const isPainted = forced ?? (no === '' && term !== 'dumb' && sink.isTTY === true);
  return (style, text) => {
    if (!isPainted || text === '') return text;
    const [begin, end] = styles[style];
    return `\u001b[${begin}m${text}\u001b[${end}m`;
  };
}
