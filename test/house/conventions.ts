import { type ESTree, Visitor } from 'vite';
import type { Source } from './sources.ts';

/** Names that say nothing; no file or folder carries one. */
export const emptyNames = [
  'utils',
  'util',
  'helpers',
  'helper',
  'common',
  'shared',
  'lib',
  'misc',
  'manager',
  'service',
  'auth',
] as const;

/**
 * Says whether a path has a folder or file whose whole name says nothing.
 * @param path a path with `/`
 */
export function hasEmptyName(path: string): boolean {
  return path.split('/').some((part) => emptyNames.some((name) => part.replace(/\..*$/, '') === name));
}

/**
 * Finds default exports, re-exported ones included.
 * @param source a parsed file
 */
export function exportsDefault({ parsed }: Source): boolean {
  return parsed.module.staticExports.some(({ entries }) =>
    entries.some(({ exportName }) => exportName.kind === 'Default' || exportName.name === 'default'),
  );
}

/**
 * Finds `any` in types.
 * @param source a parsed file
 * @returns `path:line` of each
 */
export function anyTypes({ path, text, parsed }: Source): string[] {
  const found: string[] = [];
  new Visitor({
    TSAnyKeyword({ start }) {
      found.push(`${path}:${text.slice(0, start).split('\n').length}`);
    },
  }).visit(parsed.program);
  return found;
}

/**
 * Lists what a module exports by name, types included; `export *` is listed as `* from …`.
 * @param source a parsed file
 */
export function exportedNames({ parsed }: Source): string[] {
  return parsed.module.staticExports
    .flatMap(({ entries }) => entries)
    .map(({ exportName, moduleRequest }) => exportName.name ?? `* from ${moduleRequest?.value}`)
    .sort();
}

function isFunction(node: ESTree.Expression | null): boolean {
  return node?.type === 'ArrowFunctionExpression' || node?.type === 'FunctionExpression';
}

/** Functions a statement declares: name -> where the declaration starts. */
function declaredFunctions(statement: ESTree.Program['body'][number]): [string, number][] {
  const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
  if (declaration?.type === 'FunctionDeclaration' || declaration?.type === 'TSDeclareFunction') {
    return [[declaration.id?.name ?? '', statement.start]];
  }
  if (declaration?.type !== 'VariableDeclaration') return [];
  return declaration.declarations
    .filter(({ init }) => isFunction(init))
    .map(({ id }) => [id.type === 'Identifier' ? id.name : '', statement.start]);
}

/**
 * Finds exported functions without a docstring. Of overloads the first carries it.
 * @param source a parsed file
 * @returns `path: name` of each
 */
export function functionsWithoutDocstring({ path, text, parsed }: Source): string[] {
  const starts = new Map<string, number>();
  for (const [name, start] of parsed.program.body.flatMap(declaredFunctions)) {
    if (!starts.has(name)) starts.set(name, start);
  }
  const documented = (start: number): boolean =>
    parsed.comments.some(
      ({ type, value, end }) =>
        type === 'Block' && value.startsWith('*') && end <= start && text.slice(end, start).trim() === '',
    );
  const exported = parsed.module.staticExports
    .flatMap(({ entries }) => entries)
    .filter(({ moduleRequest }) => moduleRequest === null)
    .map(({ localName }) => localName.name ?? '');
  return exported
    .filter((name) => {
      const start = starts.get(name);
      return start !== undefined && !documented(start);
    })
    .map((name) => `${path}: ${name}`);
}

/**
 * Says whether loading a file runs or defines anything of its own: neither types alone nor re-exports do.
 * @param source a parsed file
 */
export function hasBehaviour({ parsed }: Source): boolean {
  return parsed.program.body.some((statement) => {
    switch (statement.type) {
      case 'ImportDeclaration':
      case 'ExportAllDeclaration':
      case 'TSInterfaceDeclaration':
      case 'TSModuleDeclaration':
      case 'TSTypeAliasDeclaration':
        return false;
      case 'ExportNamedDeclaration':
        return (
          statement.declaration !== null &&
          statement.declaration.type !== 'TSInterfaceDeclaration' &&
          statement.declaration.type !== 'TSTypeAliasDeclaration'
        );
      default:
        return true;
    }
  });
}

const isHeaders = (node: ESTree.Expression | ESTree.Super | null): boolean =>
  (node?.type === 'Identifier' && node.name === 'headers') ||
  (node?.type === 'MemberExpression' &&
    node.property.type === 'Identifier' &&
    node.property.name === 'headers');

/**
 * Finds reads of one fixed header of a request: `headers.accept`, `headers['accept']`, `const { accept } = headers`. V8
 * compiles them anew for each order in which clients send their headers; `headerOf` of mcp/http/dispatch.ts does not need it.
 * @param source a parsed file
 * @returns `path:line` of each
 */
export function fixedHeaderReads({ path, text, parsed }: Source): string[] {
  const found: string[] = [];
  const note = (start: number): void => {
    found.push(`${path}:${text.slice(0, start).split('\n').length}`);
  };
  new Visitor({
    MemberExpression({ object, property, computed, start }) {
      if (isHeaders(object) && (!computed || property.type === 'Literal')) note(start);
    },
    VariableDeclarator({ id, init, start }) {
      if (id.type === 'ObjectPattern' && isHeaders(init)) note(start);
    },
    ObjectPattern({ typeAnnotation, start }) {
      const type = typeAnnotation?.typeAnnotation;
      const isOfRequest =
        type?.type === 'TSTypeReference' &&
        type.typeName.type === 'Identifier' &&
        type.typeName.name === 'IncomingHttpHeaders';
      if (isOfRequest) note(start);
    },
  }).visit(parsed.program);
  return found;
}
