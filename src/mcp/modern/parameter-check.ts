import type { RequestMessage } from '../reading/frames.ts';
import type { Backend, Caller } from './backend.ts';
import { checkMirroredParameters, type HeaderMismatch } from './mirrored-headers.ts';
import { mirroredParameters } from './mirrored-parameters.ts';

/** Checks the parameters of a call that its headers repeat, against the schema of the tool. */
export type ParameterCheck = (
  backend: Backend,
  request: RequestMessage,
  caller: Caller,
) => Promise<HeaderMismatch | undefined>;

/**
 * Creates the check. A schema is read once.
 * @see MCP 2026-07-28 transports "Custom Headers from Tool Parameters" (B5-08, B5-10, T-132)
 */
export function createParameterCheck(): ParameterCheck {
  const known = new WeakMap<object, ReturnType<typeof mirroredParameters>>();
  const parametersOf = (schema: unknown): ReturnType<typeof mirroredParameters> => {
    if (typeof schema !== 'object' || schema === null) return [];
    const parameters = known.get(schema) ?? mirroredParameters(schema);
    known.set(schema, parameters);
    return parameters;
  };
  return async (backend, { method, params }, caller) => {
    if (method !== 'tools/call' || typeof params?.name !== 'string') return undefined;
    const schema = await backend.inputSchemaOf?.(params.name, caller);
    return checkMirroredParameters(caller.headers, parametersOf(schema), params.arguments);
  };
}
