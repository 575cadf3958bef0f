import { writeFileSync } from 'node:fs';
import type { Client, ReadResourceResult } from '@modelcontextprotocol/client';
import type { Command } from 'commander';
import { CliError, exitCodes } from '../../cli-error.ts';
import {
  type CommandIo,
  createPaint,
  formatJson,
  printable,
  printableLine,
  processIo,
  programName,
} from '../../output.ts';
import { startProgressLine } from '../../progress-line.ts';
import { formatFittedTable } from '../../table.ts';
import { addConnectionOptions, type ConnectionOptions } from './connection-options.ts';
import { shortened } from './tools.ts';
import { requestOptions, withServer } from './with-server.ts';

/** Options of `gatehouse resources`, as commander parses them. */
export interface ResourcesOptions extends ConnectionOptions {
  json?: boolean;
  /** File for what is read. */
  output?: string;
}

/** Everything a server lists, as far as it is shown. */
type Listed = Pick<Awaited<ReturnType<Client['listResources']>>, 'resources'> &
  Pick<Awaited<ReturnType<Client['listResourceTemplates']>>, 'resourceTemplates'>;

async function list(client: Client, options: ResourcesOptions): Promise<Listed> {
  if (!client.getServerCapabilities()?.resources) return { resources: [], resourceTemplates: [] };
  const { resources } = await client.listResources(undefined, requestOptions(options));
  // Servers that have no templates often do not know the method.
  const { resourceTemplates } = await client
    .listResourceTemplates(undefined, requestOptions(options))
    .catch(() => ({ resourceTemplates: [] }));
  return { resources, resourceTemplates };
}

function showList({ resources, resourceTemplates }: Listed, options: ResourcesOptions, io: CommandIo): void {
  if (options.json) {
    io.stdout.write(formatJson({ resources, resourceTemplates }));
    return;
  }
  const all = [
    ...resources.map((one) => ({ ...one, at: one.uri })),
    ...resourceTemplates.map((one) => ({ ...one, at: one.uriTemplate })),
  ];
  const rows = all.map(({ at, title, name, mimeType = '', description = '' }) => [
    at,
    title ?? name,
    mimeType,
    shortened(description),
  ]);
  if (rows.length === 0) io.stderr.write('The server has no resources.\n');
  else
    io.stdout.write(
      formatFittedTable(['URI', 'NAME', 'TYPE', 'DESCRIPTION'], rows, {
        width: io.stdout.columns,
        paint: createPaint(io.stdout, io.env),
      }),
    );
}

type Contents = ReadResourceResult['contents'][number];

function bytesOf(contents: Contents): Buffer {
  return 'blob' in contents ? Buffer.from(contents.blob, 'base64') : Buffer.from(contents.text, 'utf8');
}

function save(contents: readonly Contents[], output: string, io: CommandIo): void {
  const bytes = Buffer.concat(contents.map(bytesOf));
  try {
    writeFileSync(output, bytes);
  } catch {
    throw new CliError(`${printableLine(output)} cannot be written.`, exitCodes.usage);
  }
  io.stderr.write(`${bytes.length} bytes in ${printableLine(output)}\n`);
}

function show(contents: readonly Contents[], io: CommandIo): void {
  for (const one of contents) {
    if (!('blob' in one)) io.stdout.write(printable(one.text).replace(/\n*$/, '\n'));
    else {
      const about = `${one.mimeType ?? 'data'}, ${bytesOf(one).length} bytes`;
      io.stdout.write(`[${printableLine(`${one.uri} ${about}`)}; to keep it: --output <file>]\n`);
    }
  }
}

/**
 * Runs `gatehouse resources`: lists the resources of an MCP server and their templates, or reads one.
 * @param target URL of the MCP server; `uri` of what to read
 * @param options `json`: print `{ "resources": […], "resourceTemplates": […] }`, or `{ "contents": […] }`
 * @throws CliError
 */
export async function runResources(
  target: { url: string; uri?: string | undefined },
  options: ResourcesOptions,
  io: CommandIo,
): Promise<void> {
  const { url, uri } = target;
  if (uri === undefined && options.output !== undefined)
    throw new CliError('--output needs a resource to read.', exitCodes.usage);
  const waiting = startProgressLine(
    io,
    uri === undefined ? `Asking ${url} for its resources` : `Reading ${uri}`,
  );
  const work = async (client: Client): Promise<() => void> => {
    if (uri === undefined) {
      const listed = await list(client, options);
      return () => showList(listed, options, io);
    }
    const result = await client.readResource({ uri }, requestOptions(options));
    return () => {
      if (options.output !== undefined) save(result.contents, options.output, io);
      else if (options.json) io.stdout.write(formatJson(result));
      else show(result.contents, io);
    };
  };
  const finish = await withServer(url, io, work, options).finally(() => waiting.end());
  finish();
}

/** Adds `gatehouse resources`. */
export function registerResources(program: Command, io: CommandIo = processIo()): void {
  const command = program
    .command('resources')
    .description('list the resources of an MCP server, or read one')
    .argument('<url>', 'URL of the MCP server')
    .argument('[uri]', 'URI of the resource to read')
    .option('--output <file>', 'write what is read to a file, as it is')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `\nExamples:\n  ${programName} resources http://localhost:3000/mcp\n  ${programName} resources http://localhost:3000/mcp notes://today --output today.txt`,
    );
  addConnectionOptions(command);
  command.action((url: string, uri: string | undefined, options: ResourcesOptions) =>
    runResources({ url, uri }, options, io),
  );
}
