import type { Command } from 'commander';
import { type InstallationOptions, withAdministration } from '../open-administration.ts';
import { isoTime, operatorCommand } from '../operator-command.ts';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../output.ts';
import { changedMembers } from './pins-difference.ts';

interface PinsOptions extends InstallationOptions {
  json?: boolean;
}

/** A remembered tool, as it is shown. */
interface Pin {
  route: string;
  tool: string;
  definition?: string;
  pinnedAt: number;
  changed?: { hash: string; definition?: string; at: number };
}

/** Registers `gatehouse pins list|accept|forget`. @param io its surroundings; those of the process by default */
export function registerPins(program: Command, io: CommandIo = processIo()): void {
  const pins = program
    .command('pins')
    .description('tools of MCP servers behind your server whose definitions are remembered');

  operatorCommand(pins, 'list', 'list the remembered tools, and what changed of them')
    .argument('[route]', 'of this route only')
    .action(async (route: string | undefined, options: PinsOptions) => {
      const list = await withAdministration(options, false, ({ toolPins }) => toolPins.list(route));
      const heading = ['ROUTE', 'TOOL', 'REMEMBERED', 'CHANGED', 'HASH', 'WHAT'];
      io.stdout.write(
        options.json ? formatJson(list.map(pinAsJson)) : formatTable([heading, ...list.map(rowOf)]),
      );
    });

  operatorCommand(pins, 'accept', 'take changes of tools for their definitions; a running server notices')
    .argument('<route>', 'name of the route')
    .argument(
      '<hashes...>',
      'of the changes, as list shows them: what changed after you looked is not accepted',
    )
    .action(async (route: string, hashes: string[], options: PinsOptions) => {
      const accepted = await withAdministration(options, false, ({ toolPins }) =>
        toolPins.accept(route, hashes),
      );
      const sentence = `Accepted: ${accepted.map(printableLine).join(', ')}.\n`;
      io.stdout.write(options.json ? formatJson({ accepted }) : sentence);
    });

  operatorCommand(pins, 'forget', 'forget a tool, or all of a route: what is seen next is remembered')
    .argument('<route>', 'name of the route')
    .argument('[tool]', 'name of the tool')
    .action(async (route: string, tool: string | undefined, options: PinsOptions) => {
      const forgotten = await withAdministration(options, false, ({ toolPins }) =>
        toolPins.forget(route, tool),
      );
      io.stdout.write(options.json ? formatJson({ forgotten }) : `Forgot ${forgotten} of ${route}.\n`);
    });
}

/** A definition is kept as JSON: what prints JSON has it as it is. */
function withDefinition<T extends { definition?: string }>(of: T): Omit<T, 'definition'> {
  const { definition, ...rest } = of;
  return definition === undefined ? rest : { ...rest, definition: JSON.parse(definition) as unknown };
}

function pinAsJson({ changed, ...pin }: Pin): object {
  return { ...withDefinition(pin), ...(changed && { changed: withDefinition(changed) }) };
}

/** As many as nobody finds another definition for. */
const shownHashDigits = 20;

function rowOf(pin: Pin): string[] {
  const { changed } = pin;
  return [
    pin.route,
    printableLine(pin.tool),
    isoTime(pin.pinnedAt),
    changed ? isoTime(changed.at) : '-',
    changed ? changed.hash.slice(0, shownHashDigits) : '-',
    changed ? changedMembers(pin.definition, changed.definition).join('; ') : '-',
  ];
}
