import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { settingsSchema } from '../options.ts';

/** The part of JSON Schema that the settings use. */
interface SettingSchema {
  type?: string;
  description?: string;
  default?: unknown;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  items?: SettingSchema;
  anyOf?: SettingSchema[];
  properties?: Record<string, SettingSchema>;
  additionalProperties?: SettingSchema | boolean;
  [keyword: string]: unknown;
}

/** Returns the JSON Schema of the config file (draft 2020-12) for editors: completion, descriptions, marked errors. */
export function buildConfigSchema(): SettingSchema {
  const { $schema, ...schema } = z.toJSONSchema(settingsSchema, { io: 'input' }) as SettingSchema;
  return {
    $schema,
    title: 'Gatehouse config file',
    ...schema,
    properties: {
      $schema: { type: 'string', description: 'This schema, for editors.' },
      ...schema.properties,
    },
  };
}

function formatRange({ minimum, maximum }: SettingSchema): string {
  const bounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  if (minimum === undefined) return '';
  return bounded ? ` from ${minimum} to ${maximum}` : ` from ${minimum}`;
}

function formatType(schema: SettingSchema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map(formatType))].join(' or ');
  if (schema.type === 'array') return `list of ${schema.items?.type ?? 'value'}s`;
  return `${schema.type ?? 'value'}${formatRange(schema)}`;
}

function isGroup(
  schema: SettingSchema,
): schema is SettingSchema & { properties: Record<string, SettingSchema> } {
  return schema.properties !== undefined;
}

function formatRow(name: string, schema: SettingSchema): string {
  const given = schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``;
  return `| \`${name}\` | ${formatType(schema)} | ${given} | ${schema.description ?? ''} |`;
}

/** Returns the table rows of a group's settings, by their full names. */
function rowsOf(path: string, schema: SettingSchema): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, setting]) => {
    const place = `${path}.${name}`;
    const member = memberOf(setting);
    const forms = setting.anyOf ?? [];
    if (forms.some(isGroup))
      return [formatRow(place, setting), ...forms.flatMap((form) => rowsOf(place, form))];
    if (member) return [formatRow(place, setting), ...rowsOf(`${place}${member.mark}`, member.schema)];
    if (!isGroup(setting)) return [formatRow(place, setting)];
    return rowsOf(place, setting).map((row) => row.replace(/ \|$/, ` (${setting.description}) |`));
  });
}

const tableHead = ['| setting | type | default | what it does |', '|---|---|---|---|'];

/**
 * Returns the schema of the members of a list or table if they are objects.
 * @returns the schema, and the placeholder for a member in names
 */
function memberOf({
  items,
  additionalProperties: values,
}: SettingSchema): { schema: SettingSchema; mark: string } | undefined {
  if (items?.properties) return { schema: items, mark: '[]' };
  return typeof values === 'object' && values.properties ? { schema: values, mark: '.*' } : undefined;
}

/** Returns the option reference as Markdown: every setting with type, default and description. */
export function formatReference(): string {
  const settings = Object.entries(buildConfigSchema().properties ?? {}).filter(
    ([name]) => name !== '$schema',
  );
  const single = settings.filter(([, schema]) => !isGroup(schema));
  const groups = settings.flatMap(([name, schema]): [string, SettingSchema][] => {
    const member = memberOf(schema);
    if (member) return [[`${name}${member.mark}`, { ...member.schema, description: `Each of \`${name}\`.` }]];
    return isGroup(schema) ? [[name, schema]] : [];
  });
  return [
    '# Settings',
    '',
    'The config file is one JSON object (`gatehouse serve --config gatehouse.json`); `createGatehouse` takes the same names.',
    'Everything may be left out. A name that is not listed here is refused, with the nearest one that is.',
    'Times are in seconds, sizes in bytes. For completion in an editor, begin the file with `"$schema": "<path>/config/schema.json"`.',
    '',
    'Made by `npm run reference`; edit `src/options.ts` and `src/settings/` instead.',
    '',
    ...tableHead,
    ...single.map(([name, schema]) => formatRow(name, schema)),
    ...groups.flatMap(([name, schema]) => [
      '',
      `## ${name}`,
      '',
      schema.description ?? '',
      '',
      ...tableHead,
      ...rowsOf(name, schema),
    ]),
    '',
  ].join('\n');
}

/** Maximum line length of a list, in characters. */
const lineWidth = 110;

/** Formats JSON as this repository does: lists of plain values on one line if they fit. */
function formatSchema(schema: SettingSchema): string {
  const text = JSON.stringify(schema, null, 2);
  const joined = text.replace(
    /( *"[^"\n]*": )\[\s+([^[\]{}]+?)\s+\]/g,
    (list, name: string, values: string) => {
      const line = `${name}[${values.replace(/,\s+/g, ', ')}]`;
      return line.length > lineWidth ? list : line;
    },
  );
  return `${joined}\n`;
}

/** Returns the generated files by their path from the root of the repository. */
export function buildReferenceFiles(): Record<string, string> {
  return {
    'config/schema.json': formatSchema(buildConfigSchema()),
    'config/options.md': formatReference(),
  };
}

if (import.meta.main) {
  for (const [file, content] of Object.entries(buildReferenceFiles()))
    writeFileSync(new URL(`../../${file}`, import.meta.url), content);
}
