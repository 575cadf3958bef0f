import { readOperations } from '../../mcp/building-blocks.ts';
import type { RequestMessage } from '../../mcp/protocol.ts';
import type { Listed } from './listed.ts';

/** Target of a request: one tool, prompt or resource, by its name. */
export interface AskedFor {
  kind: Listed['kind'];
  name: string;
}

/** Methods whose requests are about one tool, prompt or resource. */
export const usingMethods: ReadonlySet<string> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'resources/subscribe',
  'completion/complete',
]);

/**
 * Returns what a request is about, by the one reading of messages.
 * @returns undefined if it is about nothing single; a request that cannot be read comes to no step (see `Chain`)
 */
export function askedFor(request: RequestMessage): AskedFor | undefined {
  if (!usingMethods.has(request.method)) return undefined;
  const operations = readOperations([request]);
  const [operation] = typeof operations === 'string' ? [] : operations;
  if (!operation || operation.kind === 'method') return undefined;
  const { kind, name } = operation;
  const isTemplate = kind === 'resource' && request.method === 'completion/complete';
  return { kind: isTemplate ? 'template' : kind, name };
}
