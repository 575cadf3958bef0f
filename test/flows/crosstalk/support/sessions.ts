import { Call, kindOf } from './call.ts';
import type { Calling } from './callers.ts';
import { send } from './http.ts';
import { noteWrong } from './tally.ts';

/** The first message of a client that can be asked everything. */
export function initialize(protocolVersion: string): Record<string, unknown> {
  const capabilities = { elicitation: {}, sampling: {} };
  const clientInfo = { name: 'crosstalk', version: '1' };
  return {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion, capabilities, clientInfo },
  };
}

/** What of a session differs from others. */
export interface SessionKind {
  revision: string;
  /** Calls of a POST. */
  batchSize: number;
}

/** Calls in a session, one POST after the other: with id 1, or a batch with ids from 1. */
export async function callInSession(
  { port, principal, count, tally }: Calling,
  { revision, batchSize }: SessionKind,
): Promise<void> {
  const bearer = { authorization: `Bearer ${principal.tokens.mcp}` };
  const path = '/mcp';
  const opened = await send({ port, path, headers: bearer, body: initialize(revision) });
  const headers = {
    ...bearer,
    'mcp-session-id': String(opened.headers['mcp-session-id']),
    'mcp-protocol-version': revision,
  };
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
  await send({ port, path, headers, body: initialized });
  let own: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve) => {
    own = listen({ port, path, headers, principal, tally, onBegin: resolve });
  });

  for (let first = 0; first < count; first += batchSize) {
    const calls = Array.from({ length: Math.min(batchSize, count - first) }, (_, at) => {
      const kind = kindOf(first + at, true);
      return new Call(principal.name, `s${first + at}`, { kind, id: at + 1, tally });
    });
    const requests = calls.map((call) => call.request());
    const replies: Promise<unknown>[] = [];
    const reply = (body: unknown): void => {
      const taken = send({ port, path, headers, body, among: 'answers' }).then(({ status: of }) => {
        if (of !== 202) noteWrong(tally, `${principal.name}: HTTP ${of} for its answer`);
      });
      replies.push(taken);
    };
    const { status } = await send({
      port,
      path,
      headers,
      body: batchSize === 1 ? requests[0] : requests,
      onMessage: (message) => {
        const call = calls.find((one) => one.isAbout(message));
        if (call) call.hear(message, reply);
        else noteWrong(tally, `${principal.name} in a session: ${JSON.stringify(message)}`);
      },
    });
    await Promise.all(replies);
    for (const call of calls) {
      if (status !== 200) call.fail(`HTTP ${status}`);
      call.end();
    }
  }
  await send({ port, path, method: 'DELETE', headers });
  await own;
}

/** Opens the session's own stream, on which nothing may come: all messages are about calls. */
async function listen(options: {
  port: number;
  path: string;
  headers: Record<string, string>;
  principal: Calling['principal'];
  tally: Calling['tally'];
  onBegin: () => void;
}): Promise<void> {
  const { port, path, headers, principal, tally, onBegin } = options;
  const { status } = await send({
    port,
    path,
    method: 'GET',
    among: 'streams',
    onBegin,
    headers,
    onMessage: (message) => noteWrong(tally, `${principal.name} on its stream: ${JSON.stringify(message)}`),
  });
  if (status !== 200) noteWrong(tally, `${principal.name} on its stream: HTTP ${status}`);
}
