import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';

/** Most of what does not fit that is said, in characters. */
const maxSaid = 1000;

const validator = new CfWorkerJsonSchemaValidator();

/**
 * Checks a value by a JSON Schema: 2020-12, or 2019-09, draft-07 and draft-06 where it says so. Schemas are interpreted,
 * never compiled to code; what of them takes long, regular expressions among it, takes long here: call it where that
 * does no harm.
 * @returns what does not fit first, or undefined
 * @throws Error where the schema cannot be used
 */
export function checkBySchema(schema: Record<string, unknown>, value: unknown): string | undefined {
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

const isOfContainer =
  /: Property ".*" does not match (additional properties )?schema\.$|: Items did not match schema\.$/;

/** Gives a value of JSON whose objects have nothing but their own members: a schema may name what every object has. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== 'object' || value === null) return value;
  const own: Record<string, unknown> = Object.create(null);
  for (const [name, member] of Object.entries(value)) own[name] = bare(member);
  return own;
}
