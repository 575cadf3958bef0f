import { type Answer, ask } from '../ask.ts';
import type { Probe, Subject } from '../subject.ts';

/** A way to speak MCP with the server, or why there is none. */
export type McpCaller =
  | {
      kind: 'speaks';
      /** To be sent with every request. */
      headers: Readonly<Record<string, string>>;
      /** Of the session; absent if the server opened none. */
      sessionId?: string;
      evidence: readonly number[];
    }
  | { kind: 'silent'; why: string; status?: number; withToken: boolean; evidence: readonly number[] };

/** Headers every Streamable HTTP request carries. */
export const mcpHeaders = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
} as const;

/** The revision spoken: the latest with sessions and a GET stream. */
export const spokenRevision = '2025-11-25';

/**
 * A JSON-RPC request as a body.
 * @param method its method
 * @param params its parameters
 */
export function message(method: string, params: object = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 'doctor', method, params });
}

function why(answer: Answer, withToken: boolean): string {
  if (answer.kind === 'unanswered') return answer.why;
  if (answer.status === 401 && !withToken)
    return 'it takes a login to see this: log in first, or run with --active';
  return `initialize was answered with status ${answer.status}`;
}

/**
 * Makes the probe that opens a session of the revisions up to 2025-11-25, with a token if there is one. The session is
 * ended when the examination is over.
 * @param options source of the token
 * @see MCP lifecycle, "Initialization"
 */
export function mcpCaller(options: ProxyOptions): Probe<McpCaller> {
  return async (subject: Subject) => {
    const token = await options.accessToken?.(subject);
    const headers = { ...mcpHeaders, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
    const answer = await ask(subject, subject.url, {
      method: 'POST',
      headers,
      body: message('initialize', {
        protocolVersion: spokenRevision,
        capabilities: {},
        clientInfo: { name: 'gatehouse-doctor', version: '1' },
      }),
    });
    const { evidence } = answer;
    const isMcp = answer.kind === 'answered' && answer.status === 200 && answer.text.includes('"jsonrpc"');
    if (!isMcp)
      return {
        kind: 'silent',
        why: why(answer, token !== undefined),
        ...(answer.kind === 'answered' ? { status: answer.status } : {}),
        withToken: token !== undefined,
        evidence,
      };
    const sessionId = answer.headers.get('mcp-session-id') ?? undefined;
    const spoken = {
      ...headers,
      'mcp-protocol-version': spokenRevision,
      ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }),
    };
    if (sessionId !== undefined)
      subject.atEnd(() => ask(subject, subject.url, { method: 'DELETE', headers: spoken }));
    await ask(subject, subject.url, {
      method: 'POST',
      headers: spoken,
      body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    });
    return { kind: 'speaks', headers: spoken, evidence, ...(sessionId === undefined ? {} : { sessionId }) };
  };
}

/** Options of the proxy checks. */
export interface ProxyOptions {
  /** Seconds that a silent stream is watched; 75 by default, which is beyond the usual 60 s. */
  idleSeconds?: number;
  /**
   * A bearer token for the server, if a login is available: streams and sessions need one. A probe, so that all checks
   * share one login.
   */
  accessToken?: (subject: Subject) => Promise<string | undefined>;
  /** Told each second while a stream is watched. */
  onWait?: (secondsLeft: number) => void;
}
