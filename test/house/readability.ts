import type { Source } from './sources.ts';

const opening = /^(What|Who|Whose|Whom|Whether|How|Where|When|Which|Why)\b/;

/**
 * Returns a sentence for each docstring that opens like a question: it has to be read twice, as it says neither what the
 * thing is nor what it does.
 */
export function questioningDocstrings({ path, text, parsed }: Source): string[] {
  return parsed.comments.flatMap(({ type, value, start }) => {
    const words = value.replace(/^\s*\*\s?/gm, '').trim();
    const found = type === 'Block' && value.startsWith('*') ? opening.exec(words)?.[0] : undefined;
    if (found === undefined) return [];
    const line = text.slice(0, start).split('\n').length;
    return [`${path}:${line} opens with "${found}": begin with a verb ("Returns …") or a noun phrase.`];
  });
}

/** Maximum lines of a file that one other file imports, unless it is listed. */
const fewLines = 40;

/**
 * Returns a sentence for each short file that one other file imports, so that a reader opens two files for one thought.
 * @param allowed paths that stay, because of a thread, a program of its own or a rule about what it may import
 */
export function crumbs(sources: readonly Source[], allowed: ReadonlySet<string>): string[] {
  return sources.flatMap(({ path, text }) => {
    if (allowed.has(path) || text.split('\n').length - 1 >= fewLines) return [];
    const importers = sources.filter(({ imports }) => imports.some(({ to }) => to === path));
    const [only, ...more] = importers;
    if (only === undefined || more.length > 0) return [];
    return [`${path} has under ${fewLines} lines and one importer: make it a paragraph of ${only.path}.`];
  });
}
