import { headerNamePattern } from '../../oauth/headers.ts';
import type { MirroredParameter } from './mirrored-headers.ts';

const mirroredTypes = new Set(['string', 'integer', 'number', 'boolean']);

/**
 * Reads which parameters of a tool are mirrored in headers. Only declarations under `properties` count. If one declaration
 * is not valid, none counts: clients drop such a tool.
 * @param schema the tool's `inputSchema`
 * @see MCP 2026-07-28 transports "Custom Headers from Tool Parameters" (B5-08, B5-09)
 */
export function mirroredParameters(schema: unknown): readonly MirroredParameter[] {
  const found = [...declarationsIn(schema, [])];
  const names = new Set(found.map(({ headerName }) => headerName.toLowerCase()));
  const isRight = found.every(
    ({ headerName, type }) => headerNamePattern.test(headerName) && mirroredTypes.has(type),
  );
  return isRight && names.size === found.length ? found : [];
}

function* declarationsIn(schema: unknown, path: readonly string[]): Iterable<MirroredParameter> {
  if (typeof schema !== 'object' || schema === null) return;
  const { properties, type, 'x-mcp-header': name } = schema as Record<string, unknown>;
  if (name !== undefined && path.length > 0)
    yield {
      path,
      headerName: typeof name === 'string' ? name : '',
      type: typeof type === 'string' ? type : '',
    };
  if (typeof properties !== 'object' || properties === null) return;
  for (const [key, member] of Object.entries(properties)) yield* declarationsIn(member, [...path, key]);
}
