import { internalRequest } from '../../../src/mcp/modern/internal-call.ts';
import type { Answer, Backend, Caller, Message } from '../../../src/mcp/protocol.ts';

/** A caller of whom only the subject matters. */
export function createCaller(subject = 'ann', headers: Record<string, string> = {}): Caller {
  const url = 'https://mcp.example/mcp';
  return {
    authInfo: {
      issuer: 'https://as.example',
      subject,
      clientId: 'c',
      scopes: ['notes:read'],
      audience: url,
      expiresAt: 9_999_999_999,
    },
    headers,
    request: () =>
      new Request(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }),
  };
}

/** Hands a request to a backend; gives what came of it. */
export async function callBackend(
  backend: Backend,
  method: string,
  params: Record<string, unknown> = {},
  _meta: Record<string, unknown> = {},
): Promise<{ answer: Answer; notifications: Message[] }> {
  const request = internalRequest(method, params);
  Object.assign(request.params?._meta as object, _meta);
  const headers = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    'mcp-name': String(params.name),
  };
  const notifications: Message[] = [];
  const answer = await new Promise<Answer>((resolve) =>
    backend.begin({
      request,
      caller: createCaller('ann', headers),
      notify: (notification) => notifications.push(notification),
      answer: resolve,
    }),
  );
  return { answer, notifications };
}
