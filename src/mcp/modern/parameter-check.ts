import { type Awaitable, mapAwaitable } from '../../collections/awaitable.ts';
import type { RequestMessage } from '../checks/messages.ts';
import { checkMirroredParameters, type HeaderMismatch } from '../checks/mirrored-headers.ts';
import type { Backend, Caller } from './backend.ts';
import { mirroredParameters } from './mirrored-parameters.ts';

/** Checks the parameters of a call that its headers repeat, against the schema of the tool. */
export type ParameterCheck = (
  backend: Backend,
  request: RequestMessage,
  caller: Caller,
) => Awaitable<HeaderMismatch | undefined>;

/**
 * Creates the check. What a schema declares is read once; most tools declare nothing, and then nothing is waited for.
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
  return (backend, { method, params }, caller) => {
    if (method !== 'tools/call' || typeof params?.name !== 'string') return undefined;
    const schema = backend.inputSchemaOf?.(params.name, caller);
    const check = (found: unknown): HeaderMismatch | undefined =>
      checkMirroredParameters(caller.headers, parametersOf(found), params.arguments);
    return mapAwaitable(schema, check);
  };
}
