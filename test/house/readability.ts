import { type Importer, roomOf } from './imports.ts';
import type { Room } from './rooms.ts';
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

/** Returns whether a file stands in a room, or in a room within it: those know what is behind its doors. */
function isInside(path: string, { name }: Room): boolean {
  return path.startsWith(`src/${name}/`);
}

/** Returns a sentence for each import of a file that is no door of its room. */
export function importsPastDoors(rooms: readonly Room[], files: readonly Importer[]): string[] {
  return files.flatMap(({ path, imports }) =>
    imports.flatMap(({ to, isPackage }) => {
      const room = isPackage ? undefined : roomOf(rooms, to);
      if (room?.doors === undefined || isInside(path, room)) return [];
      if (room.doors.some((door) => to === `src/${room.name}/${door}`)) return [];
      return [
        `${path} imports ${to}, which is no door of ${room.name}: import ${room.doors.join(' or ')}, or name a new door in test/house/rooms.ts.`,
      ];
    }),
  );
}

/** Doors that nobody outside of their room imports. */
export function idleDoors(rooms: readonly Room[], files: readonly Importer[]): string[] {
  const imported = new Set(
    files.flatMap(({ path, imports }) =>
      imports
        .filter(({ to, isPackage }) => {
          const room = isPackage ? undefined : roomOf(rooms, to);
          return room !== undefined && !isInside(path, room);
        })
        .map(({ to }) => to),
    ),
  );
  return rooms.flatMap(({ name, doors = [] }) =>
    doors.map((door) => `src/${name}/${door}`).filter((path) => !imported.has(path)),
  );
}
