import type { Message } from '../../mcp/protocol.ts';

/**
 * Takes credentials out of a message that its caller put there: `_meta.auth` is for the gateway alone to fill (B7-17).
 */
export function withoutCallerAuth<M extends Message>(message: M): M {
  const meta = message.params?._meta as Record<string, unknown> | undefined;
  if (meta === undefined || !Object.hasOwn(meta, 'auth')) return message;
  const { auth: _auth, ...rest } = meta;
  return { ...message, params: { ...message.params, _meta: rest } };
}
