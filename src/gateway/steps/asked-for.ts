import type { RequestMessage } from '../../mcp/checks/messages.ts';
import type { Listed } from './listed.ts';

/** What a request is about: one tool, prompt or resource, by its name. */
export interface AskedFor {
  kind: Listed['kind'];
  name: string;
}

const kinds: ReadonlyMap<string, { kind: Listed['kind']; member: string }> = new Map([
  ['tools/call', { kind: 'tool', member: 'name' }],
  ['prompts/get', { kind: 'prompt', member: 'name' }],
  ['resources/read', { kind: 'resource', member: 'uri' }],
  ['resources/subscribe', { kind: 'resource', member: 'uri' }],
]);

/** Methods whose requests are about one tool, prompt or resource. */
export const usingMethods: ReadonlySet<string> = new Set([...kinds.keys(), 'completion/complete']);

/** Reads what a request is about; undefined where it is about nothing single, or does not say. */
export function askedFor({ method, params }: RequestMessage): AskedFor | undefined {
  if (method === 'completion/complete') return referredTo(params?.ref as Record<string, unknown> | undefined);
  const kind = kinds.get(method);
  const name = kind && params?.[kind.member];
  return kind && typeof name === 'string' ? { kind: kind.kind, name } : undefined;
}

function referredTo(ref: Record<string, unknown> | undefined): AskedFor | undefined {
  if (ref?.type === 'ref/prompt' && typeof ref.name === 'string') return { kind: 'prompt', name: ref.name };
  if (ref?.type === 'ref/resource' && typeof ref.uri === 'string') return { kind: 'template', name: ref.uri };
  return undefined;
}
