import { globSync, readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);

/** The manifest's own files and the rules' own examples name ids without proving them. */
const notProof = /^test\/(house\/|conformance\/(requirements|delivered|citations))/;

/**
 * Finds the ids a text cites: `A3-03`, `B12-04`, `C1-01`, `T-187`.
 * @param text a source file
 * @returns the ids in their order, repeats included
 */
export function citedIn(text: string): string[] {
  return text.match(/(?<![\w-])(?:[ABC]\d{1,2}-\d{2}|T-\d{3})(?![\w-])/g) ?? [];
}

/**
 * Collects what TypeScript files below the given folders cite.
 * @param folders folders of the repository
 * @returns id -> the files that cite it, paths from the repository's root
 */
export function citations(folders: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of globSync(
    folders.map((folder) => `${folder}/**/*.ts`),
    { cwd: root },
  ).sort()) {
    if (notProof.test(file)) continue;
    for (const id of new Set(citedIn(readFileSync(new URL(file, root), 'utf8')))) {
      found.set(id, [...(found.get(id) ?? []), file]);
    }
  }
  return found;
}
