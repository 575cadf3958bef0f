import { type Command, Option } from 'commander';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../../output.ts';
import { type InstallationOptions, isoTime, operatorCommand, withAdministration } from './installation.ts';

interface PinsOptions extends InstallationOptions {
  json?: boolean;
  kind?: Kind;
}

const kinds = ['tool', 'prompt', 'template', 'instructions'] as const;
type Kind = (typeof kinds)[number];

/** A pinned definition, as it is shown. */
interface Pin {
  route: string;
  kind: Kind;
  name: string;
  definition?: string;
  pinnedAt: number;
  changed?: { hash: string; definition?: string; at: number };
}

/** Registers `gatehouse pins list|accept|forget`. */
export function registerPins(program: Command, io: CommandIo = processIo()): void {
  const pins = program
    .command('pins')
    .description(
      'pinned definitions of MCP servers behind your server: tools, prompts, resource templates and instructions',
    );

  operatorCommand(pins, 'list', 'list the pinned definitions and their changes')
    .argument('[route]', 'of this route only')
    .action(async (route: string | undefined, options: PinsOptions) => {
      const list = await withAdministration(options, false, ({ pins: all }) => all.list(route));
      const heading = ['ROUTE', 'KIND', 'NAME', 'PINNED', 'CHANGED', 'HASH', 'DIFFERENCE'];
      io.stdout.write(
        options.json ? formatJson(list.map(pinAsJson)) : formatTable([heading, ...list.map(rowOf)]),
      );
    });

  operatorCommand(pins, 'accept', 'accept changed definitions; a running server applies it')
    .argument('<route>', 'name of the route')
    .argument('<hashes...>', 'hashes of the changes, as list shows them; a later change is not accepted')
    .action(async (route: string, hashes: string[], options: PinsOptions) => {
      const accepted = await withAdministration(options, false, ({ pins: all }) => all.accept(route, hashes));
      const sentence = `Accepted: ${accepted.map(printableLine).join(', ')}.\n`;
      io.stdout.write(options.json ? formatJson({ accepted }) : sentence);
    });

  operatorCommand(pins, 'forget', 'forget a definition, or all of a route; the next one seen is pinned')
    .argument('<route>', 'name of the route')
    .argument('[name]', 'name of the tool or prompt, or the resource template')
    .addOption(new Option('--kind <kind>', 'of this kind only').choices(kinds))
    .action(async (route: string, name: string | undefined, options: PinsOptions) => {
      const which = { ...(name !== undefined && { name }), ...(options.kind && { kind: options.kind }) };
      const forgotten = await withAdministration(options, false, ({ pins: all }) => all.forget(route, which));
      io.stdout.write(options.json ? formatJson({ forgotten }) : `Forgot ${forgotten} of ${route}.\n`);
    });
}

/** Parses the stored definition, so that JSON output contains it as JSON. */
function withDefinition<T extends { definition?: string }>(of: T): Omit<T, 'definition'> {
  const { definition, ...rest } = of;
  return definition === undefined ? rest : { ...rest, definition: JSON.parse(definition) as unknown };
}

function pinAsJson({ changed, ...pin }: Pin): object {
  return { ...withDefinition(pin), ...(changed && { changed: withDefinition(changed) }) };
}

/** Number of shown hash digits: enough that no other definition with the same digits can be found. */
const shownHashDigits = 20;

function rowOf(pin: Pin): string[] {
  const { changed } = pin;
  return [
    pin.route,
    pin.kind,
    printableLine(pin.name),
    isoTime(pin.pinnedAt),
    changed ? isoTime(changed.at) : '-',
    changed ? changed.hash.slice(0, shownHashDigits) : '-',
    changed ? changedMembers(pin.definition, changed.definition).join('; ') : '-',
  ];
}

/** Maximum length of a shown text, in characters. */
const maxShown = 200;

/**
 * Lists the members that differ between two definitions, each with its new text.
 * @param before JSON; undefined if it was too long to store, like `now`
 */
export function changedMembers(before: string | undefined, now: string | undefined): string[] {
  if (before === undefined || now === undefined) return ['too long to compare'];
  const [old, next] = [before, now].map((text) => JSON.parse(text) as Record<string, unknown>);
  const names = new Set([...Object.keys(old ?? {}), ...Object.keys(next ?? {})]);
  return [...names]
    .filter((name) => JSON.stringify(old?.[name]) !== JSON.stringify(next?.[name]))
    .map((name) => `${name}: ${shown(old?.[name], next?.[name])}`);
}

/** Characters of unchanged text shown before a difference. */
const shownBefore = 20;

/** Shows a changed text from the first difference on, and says how much is left out. */
function shown(old: unknown, value: unknown): string {
  if (value === undefined) return '(gone)';
  const [before = '', text] = [JSON.stringify(old), JSON.stringify(value)];
  let same = 0;
  while (same < text.length && text[same] === before[same]) same++;
  const from = same > maxShown - shownBefore ? same - shownBefore : 0;
  const part = text.slice(from, from + maxShown).replace(/\p{C}/gu, '\u{fffd}');
  const left = text.length - from - maxShown;
  return `${from > 0 ? '…' : ''}${part}${left > 0 ? `… (${left} more characters: --json)` : ''}`;
}
