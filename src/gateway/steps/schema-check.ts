import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';
import { isRecord } from '../../mcp/protocol.ts';

/** Maximum length of the description of a fault, in characters. */
const maxSaid = 1000;

const validator = new CfWorkerJsonSchemaValidator();

/**
 * Checks a value by a JSON Schema: 2020-12, or 2019-09, draft-07 and draft-06 if it says so. Schemas are interpreted,
 * never compiled to code; what of them takes long, regular expressions among it, takes long here: call it where that
 * does no harm.
 * @returns what does not fit first, or undefined
 * @throws Error if the schema cannot be used: it is of another dialect, or a keyword has a value that says nothing
 *   there
 */
export function checkBySchema(schema: Record<string, unknown>, value: unknown): string | undefined {
  const misused = findMisused(schema);
  if (misused !== undefined) throw new TypeError(`${misused} is of another dialect or type.`);
  const { valid, errorMessage } = validator.getValidator(schema)(bare(value));
  if (valid) return undefined;
  // What holds something that does not fit says no more than that it does so.
  const said = errorMessage.split('; ').filter((one) => !isOfContainer.test(one));
  const text = (said.length > 0 ? said : [errorMessage])
    .join('; ')
    .replaceAll('False boolean schema.', 'There is nothing of that name.')
    .replace(/(^|; )#\/?/g, '$1')
    .replace(/(^|; ): /g, '$1');
  return text.length > maxSaid ? `${text.slice(0, maxSaid)}…` : text;
}

type IsOfKeyword = (value: unknown) => boolean;

const isNumber: IsOfKeyword = (value) => typeof value === 'number';
const isCount: IsOfKeyword = (value) => Number.isInteger(value) && (value as number) >= 0;
const isText: IsOfKeyword = (value) => typeof value === 'string';
const isSchema: IsOfKeyword = (value) => typeof value === 'boolean' || isRecord(value);
const isListOfSchemas: IsOfKeyword = (value) => Array.isArray(value) && value.every(isSchema);
const isListOfText: IsOfKeyword = (value) => Array.isArray(value) && value.every(isText);
const types = new Set<unknown>(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer']);

/** Types of the values of keywords, the same in every supported dialect; the values of other keywords are free. */
const keywords: ReadonlyMap<string, IsOfKeyword> = new Map<string, IsOfKeyword>([
  ...['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'multipleOf'].map(
    (name) => [name, isNumber] as const,
  ),
  ...['maxLength', 'minLength', 'maxItems', 'minItems', 'maxProperties', 'minProperties'].map(
    (name) => [name, isCount] as const,
  ),
  ...['pattern', '$ref'].map((name) => [name, isText] as const),
  ...[
    'not',
    'if',
    'then',
    'else',
    'contains',
    'propertyNames',
    'additionalProperties',
    'additionalItems',
  ].map((name) => [name, isSchema] as const),
  ...['allOf', 'anyOf', 'oneOf', 'prefixItems'].map((name) => [name, isListOfSchemas] as const),
  ...['properties', 'patternProperties', 'dependentSchemas'].map(
    (name) => [name, (value: unknown) => isRecord(value) && Object.values(value).every(isSchema)] as const,
  ),
  ['items', (value) => isSchema(value) || isListOfSchemas(value)],
  ['required', isListOfText],
  ['enum', Array.isArray],
  ['uniqueItems', (value) => typeof value === 'boolean'],
  ['type', (value) => (Array.isArray(value) ? value.every((one) => types.has(one)) : types.has(value))],
]);

/** Members that contain schemas by freely chosen names. */
const named = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);

/**
 * Returns the first keyword whose value has a type of no supported dialect, such as `exclusiveMaximum: true` of
 * draft-04 and `required: true` of draft-03, which the validator would misinterpret.
 */
function findMisused(schema: unknown): string | undefined {
  if (Array.isArray(schema)) return firstMisused(schema);
  if (!isRecord(schema)) return undefined;
  for (const [name, value] of Object.entries(schema)) {
    const isRight = keywords.get(name);
    if (isRight && !isRight(value)) return name;
    // Other keywords hold data: enum, const, default.
    const holdsSchemas = isRight && isRight !== Array.isArray;
    const misused =
      named.has(name) && isRecord(value)
        ? firstMisused(Object.values(value))
        : holdsSchemas
          ? findMisused(value)
          : undefined;
    if (misused !== undefined) return misused;
  }
  return undefined;
}

function firstMisused(schemas: readonly unknown[]): string | undefined {
  for (const schema of schemas) {
    const misused = findMisused(schema);
    if (misused !== undefined) return misused;
  }
  return undefined;
}

const isOfContainer =
  /: Property ".*" does not match (additional properties )?schema\.$|: Items did not match schema\.$/;

/** Returns a JSON value whose objects have no inherited members: a schema may name those. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== 'object' || value === null) return value;
  const own: Record<string, unknown> = Object.create(null);
  for (const [name, member] of Object.entries(value)) own[name] = bare(member);
  return own;
}
