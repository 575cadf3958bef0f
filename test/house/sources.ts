import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { type ParseResult, parseSync, Visitor } from 'vite';

/** The repository's root. */
export const root = new URL('../../', import.meta.url);

/** One import, `export … from`, `import()` or `import('…')` type of a source file. */
export interface Import {
  /** As written: `koa`, `node:fs`, or for our own files the path below the root: `src/oauth/scope.ts`. */
  to: string;
  /** Whether a package (or Node's own module) is meant, not a file of ours. */
  isPackage: boolean;
  /** Whether only types cross. */
  typesOnly: boolean;
}

/** A parsed source file. */
export interface Source {
  /** Path below the root, with `/`. */
  path: string;
  text: string;
  parsed: ParseResult;
  imports: Import[];
}

function importsOf(path: string, text: string, parsed: ParseResult): Import[] {
  const found: { specifier: string; typesOnly: boolean }[] = [];
  for (const { moduleRequest, entries } of parsed.module.staticImports) {
    const typesOnly = entries.length > 0 && entries.every(({ isType }) => isType);
    found.push({ specifier: moduleRequest.value, typesOnly });
  }
  for (const { entries } of parsed.module.staticExports) {
    const specifiers = new Set(entries.map(({ moduleRequest }) => moduleRequest?.value));
    for (const specifier of specifiers) {
      if (specifier === undefined) continue;
      const those = entries.filter(({ moduleRequest }) => moduleRequest?.value === specifier);
      found.push({ specifier, typesOnly: those.every(({ isType }) => isType) });
    }
  }
  for (const { moduleRequest } of parsed.module.dynamicImports) {
    const written = text.slice(moduleRequest.start, moduleRequest.end);
    if (!/^(['"`])[^'"`$]+\1$/.test(written)) {
      throw new Error(`${path} imports ${written}: name the module literally, so that the rules can see it.`);
    }
    found.push({ specifier: written.slice(1, -1), typesOnly: false });
  }
  new Visitor({
    TSImportType(node) {
      found.push({ specifier: node.source.value, typesOnly: true });
    },
  }).visit(parsed.program);
  return found.map(({ specifier, typesOnly }) =>
    specifier.startsWith('.')
      ? { to: posix.join(posix.dirname(path), specifier), isPackage: false, typesOnly }
      : { to: specifier, isPackage: true, typesOnly },
  );
}

/**
 * Parses one source file.
 * @param path its path below the root
 * @param text its TypeScript
 * @returns the file with what it imports
 * @throws Error where it does not parse, or imports what only the running program knows
 */
export function parseSource(path: string, text: string): Source {
  const parsed = parseSync(path, text);
  const [problem] = parsed.errors;
  if (problem) throw new Error(`${path} does not parse: ${problem.message}`);
  return { path, text, parsed, imports: importsOf(path, text, parsed) };
}

/**
 * Reads and parses every TypeScript file below a folder.
 * @param folder a folder of the repository
 * @returns its sources, sorted by path
 */
export function readSources(folder: string): Source[] {
  return globSync(`${folder}/**/*.ts`, { cwd: root, exclude: ['**/node_modules'] })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .map((path) => parseSource(path, readFileSync(new URL(path, root), 'utf8')));
}
