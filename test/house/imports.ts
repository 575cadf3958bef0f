import type { Room } from './rooms.ts';
import type { Import, Source } from './sources.ts';

/** What the import rules need to know of a file. */
export type Importer = Pick<Source, 'path' | 'imports'>;

/**
 * Finds the room of a file.
 * @param rooms the table
 * @param path the file's path below the root
 * @returns the row with the longest matching name, or undefined for a file outside every room
 */
export function roomOf(rooms: readonly Room[], path: string): Room | undefined {
  return rooms
    .filter(({ name }) => path === `src/${name}` || path.startsWith(`src/${name}/`))
    .sort((a, b) => b.name.length - a.name.length)[0];
}

function packageName(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}

function forbidsPackage(room: Room, path: string, specifier: string): boolean {
  const allowed = room.except?.find(({ file }) => path === `src/${file}`)?.packages ?? [];
  const name = packageName(specifier);
  if (allowed.includes(name)) return false;
  return (room.neverPackages ?? []).some((never) =>
    never === 'node:*' ? specifier.startsWith('node:') : never === name,
  );
}

/** Returns whether a file stands in a room, or in a room within it: those know what is behind its doors. */
function isWithin({ name }: Room, path: string): boolean {
  return path.startsWith(`src/${name}/`);
}

function isPastDoors(room: Room, path: string, { to }: Import): boolean {
  if (room.doors === undefined || isWithin(room, path)) return false;
  return !room.doors.some((door) => to === `src/${door}`);
}

function objection(rooms: readonly Room[], room: Room, path: string, found: Import): string | undefined {
  if (found.isPackage) {
    return forbidsPackage(room, path, found.to) ? `${room.name} never imports ${found.to}` : undefined;
  }
  const target = roomOf(rooms, found.to);
  if (target === undefined) return `${found.to} stands in no room`;
  if (target === room) return undefined;
  const isAllowed =
    room.may.includes(target.name) ||
    room.except?.some(({ file, may }) => path === `src/${file}` && may?.includes(target.name));
  if (!isAllowed && !room.mayTypesOf?.includes(target.name))
    return `${room.name} may not import ${target.name} (${found.to})`;
  if (!isAllowed && !found.typesOnly)
    return `${room.name} may import only types of ${target.name} (${found.to}): write import type`;
  return isPastDoors(target, path, found)
    ? `${room.name} imports ${target.name} past its doors (${found.to}): import ${target.doors?.join(' or ')}, or name a new door in test/house/rooms.ts`
    : undefined;
}

/**
 * Holds files against the table of rooms.
 * @param rooms the table
 * @param files the files and what they import
 * @returns one sentence for each import that the table does not allow
 */
export function forbiddenImports(rooms: readonly Room[], files: readonly Importer[]): string[] {
  return files.flatMap(({ path, imports }) => {
    const room = roomOf(rooms, path);
    if (room === undefined) return [`${path}: stands in no room`];
    return imports
      .map((found) => objection(rooms, room, path, found))
      .filter((sentence) => sentence !== undefined)
      .map((sentence) => `${path}: ${sentence}`);
  });
}

/** Finds doors that no other room uses. */
export function idleDoors(rooms: readonly Room[], files: readonly Importer[]): string[] {
  const used = new Set(
    files.flatMap(({ path, imports }) =>
      imports
        .filter(({ to, isPackage }) => {
          const room = isPackage ? undefined : roomOf(rooms, to);
          return room !== undefined && !isWithin(room, path);
        })
        .map(({ to }) => to),
    ),
  );
  return rooms.flatMap(({ doors = [] }) => doors.filter((door) => !used.has(`src/${door}`)));
}

/** Finds allowances of the table that no import needs, as `room may import other`. */
export function idleAllowances(rooms: readonly Room[], files: readonly Importer[]): string[] {
  const needed = new Set(
    files.flatMap(({ path, imports }) =>
      imports
        .filter(({ isPackage }) => !isPackage)
        .flatMap(({ to }) => {
          const target = roomOf(rooms, to)?.name;
          return [`${roomOf(rooms, path)?.name} may import ${target}`, `${path} may import ${target}`];
        }),
    ),
  );
  return rooms
    .flatMap(({ name, may, mayTypesOf = [], except = [] }) => [
      ...[...may, ...mayTypesOf].map((other) => `${name} may import ${other}`),
      ...except.flatMap(({ file, may: more = [] }) => more.map((other) => `src/${file} may import ${other}`)),
    ])
    .filter((allowance) => !needed.has(allowance));
}

/**
 * Finds import circles, type imports included.
 * @param files the files and what they import
 * @returns each circle once, as `a -> b -> a`
 */
export function importCircles(files: readonly Importer[]): string[] {
  const edges = new Map(
    files.map(({ path, imports }) => [
      path,
      imports.filter(({ isPackage }) => !isPackage).map(({ to }) => to),
    ]),
  );
  const done = new Set<string>();
  const circles: string[] = [];
  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      circles.push([...trail.slice(start), path].join(' -> '));
      return;
    }
    if (done.has(path)) return;
    for (const next of edges.get(path) ?? []) walk(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) walk(path, []);
  return circles;
}

/**
 * Collects the packages that loading some files also loads, over our own files; types do not load.
 * @param files every file of ours
 * @param isStart which files are loaded first
 * @returns package -> the first file found to import it
 */
export function reachablePackages(
  files: readonly Importer[],
  isStart: (path: string) => boolean,
): Map<string, string> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const pending = files.filter(({ path }) => isStart(path)).map(({ path }) => path);
  const seen = new Set(pending);
  const packages = new Map<string, string>();
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    for (const { to, isPackage, typesOnly } of byPath.get(path)?.imports ?? []) {
      if (typesOnly) continue;
      if (isPackage) {
        if (!packages.has(packageName(to))) packages.set(packageName(to), path);
      } else if (!seen.has(to)) {
        seen.add(to);
        pending.push(to);
      }
    }
  }
  return packages;
}
