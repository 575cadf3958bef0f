import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { obtainTokens, post, refresh, register, type Tokens, tryAccess } from '../../../support/oauth.ts';
import { createVisitor } from '../../../support/visitor.ts';
import { describeTimes } from './figures.ts';
import type { NodeProcesses } from './library-nodes.ts';

/** What the clients of an installation know for sure: each entry was acknowledged, or is a fault that they saw. */
export interface Ledger {
  /** Clients whose registration was answered. */
  clients: string[];
  /** Logins whose tokens were answered last, and that nobody ended. */
  live: { clientId: string; tokens: Tokens }[];
  /** Logins whose revocation was answered. */
  ended: { clientId: string; tokens: Tokens }[];
  /** Labels of calls that were sent, each once. */
  sent: string[];
  /** Labels of calls that were answered with a result. */
  answered: string[];
  /** Streams that broke, and were resumed by the id of their last event. */
  resumed: number;
  /** Calls whose stream ended with the error of an interrupted call. */
  interrupted: number;
  /** Streams whose last event was not stored while the database was away, so that they could not be resumed. */
  unresumable: number;
  /** Requests without an answer, or with one of 5xx. */
  unavailable: number;
  /** Times of calls in milliseconds. */
  callMs: number[];
  /** What should not have been. */
  wrong: string[];
}

/** Returns a ledger of nothing yet. */
export function newLedger(): Ledger {
  return {
    ...{ clients: [], live: [], ended: [], sent: [], answered: [] },
    ...{ resumed: 0, unresumable: 0, interrupted: 0, unavailable: 0, callMs: [], wrong: [] },
  };
}

/** Options of {@link runLoad}. */
export interface LoadOptions {
  installation: { url: string; mcpUrl: string };
  ledger: Ledger;
  /** Number of clients at once. */
  clients: number;
  /** Ends the load: each client finishes what it does. */
  signal: AbortSignal;
}

/** Maximum time until a request that cannot be served is served again, in milliseconds. */
const patienceMs = 60_000;

/** Maximum time of an exchange, in milliseconds: a stream that says no more by then is as good as lost. */
const exchangeMs = 30_000;

/** An event of a stream, as far as the load looks at it. */
interface Event {
  id: string | undefined;
  message:
    | { id?: unknown; method?: string; result?: { content?: { text?: string }[] }; error?: object }
    | undefined;
}

/** Reads the events of a response until it ends; a broken connection is an end as well. */
async function readEvents(response: Response, hear: (event: Event) => void): Promise<void> {
  let text = '';
  try {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const frame = text.slice(0, end);
        text = text.slice(end + 2);
        const data = /^data: ?(.*)$/m.exec(frame)?.[1];
        const id = /^id: ?(.*)$/m.exec(frame)?.[1];
        if (data !== undefined || id !== undefined)
          hear({ id, message: data ? (JSON.parse(data) as Event['message']) : undefined });
      }
    }
  } catch {
    // The connection broke.
  }
}

/**
 * Has clients log in, refresh, call, resume broken streams and revoke, over and over.
 * @param options where, and what is noted
 */
export async function runLoad({ installation, ledger, clients, signal }: LoadOptions): Promise<void> {
  const { url, mcpUrl } = installation;

  const ask = (init: RequestInit): Promise<Response> =>
    fetch(mcpUrl, { ...init, signal: AbortSignal.timeout(exchangeMs) });

  /** Sends a request until it has an answer that is not of 5xx. @returns undefined if the first one had none */
  async function attempt(send: () => Promise<Response>): Promise<Response | undefined> {
    try {
      const response = await send();
      if (response.status < 500) return response;
      await response.text();
      if (response.status !== 502 && response.headers.get('retry-after') === null)
        ledger.wrong.push(`${response.status} without Retry-After`);
    } catch {
      // No answer.
    }
    ledger.unavailable++;
    return undefined;
  }

  async function insist(what: string, send: () => Promise<Response>): Promise<Response | undefined> {
    const until = performance.now() + patienceMs;
    while (performance.now() < until) {
      const response = await attempt(send);
      if (response) return response;
      await sleep(50 + Math.random() * 100);
    }
    ledger.wrong.push(`${what} was not served for ${patienceMs} ms`);
    return undefined;
  }

  async function logIn(): Promise<{ clientId: string; tokens: Tokens } | undefined> {
    const until = performance.now() + patienceMs;
    for (let clientId: string | undefined; performance.now() < until; ) {
      try {
        clientId ??= (await register(url)).client_id;
        if (!ledger.clients.includes(clientId)) ledger.clients.push(clientId);
        const visitor = createVisitor();
        const { tokens } = await obtainTokens(installation, {
          clientId,
          visitor,
          scope: 'mcp',
          scopes: ['mcp'],
        });
        return { clientId, tokens };
      } catch {
        ledger.unavailable++;
        await sleep(50 + Math.random() * 200);
      }
    }
    ledger.wrong.push(`nobody could log in for ${patienceMs} ms`);
    return undefined;
  }

  /** Refreshes until there is an answer: a client that got none may send its token again. */
  async function renew(login: { clientId: string; tokens: Tokens }): Promise<void> {
    const { clientId, tokens } = login;
    const answer = await insist('a refresh', () => refresh(url, clientId, tokens.refresh_token));
    if (!answer) return;
    const text = await answer.text();
    if (answer.status === 200) login.tokens = JSON.parse(text) as Tokens;
    else ledger.wrong.push(`a refresh was refused: ${answer.status} ${text}`);
  }

  /** Opens a session; gives the headers of its requests. */
  async function openSession({ access_token: token }: Tokens): Promise<Record<string, string> | undefined> {
    const headers: Record<string, string> = {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    };
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'load', version: '1' },
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
    const opened = await insist('initialize', () => ask({ method: 'POST', headers, body }));
    const text = await opened?.text().catch(() => undefined);
    const session = opened?.headers.get('mcp-session-id');
    if (!opened || text === undefined) return undefined;
    if (opened.status !== 200 || !session) {
      ledger.wrong.push(`initialize: ${opened.status} ${text}`);
      return undefined;
    }
    return { ...headers, 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
  }

  /** Calls the slow tool once under a label of its own, and resumes the stream of its answer while that breaks. */
  async function call(headers: Record<string, string>, id: number): Promise<void> {
    const label = randomUUID();
    ledger.sent.push(label);
    const params = {
      name: 'slow',
      arguments: { label, ms: 50 + Math.random() * 900 },
      _meta: { progressToken: id },
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
    const begun = performance.now();
    let last: string | undefined;
    let answers = 0;
    const heardIds = new Set<string>();
    const hear = ({ id: eventId, message }: Event): void => {
      if (eventId !== undefined) {
        if (heardIds.has(eventId)) ledger.wrong.push(`the event ${eventId} came twice`);
        heardIds.add(eventId);
        last = eventId;
      }
      if (message?.id === undefined || message.method !== undefined) return;
      answers++;
      if (message.error) ledger.interrupted++;
      else if (message.id === id && message.result?.content?.[0]?.text === label) {
        ledger.answered.push(label);
        ledger.callMs.push(performance.now() - begun);
      } else ledger.wrong.push(`${label} was answered with ${JSON.stringify(message)}`);
    };
    const response = await attempt(() => ask({ method: 'POST', headers, body }));
    if (!response) {
      await sleep(200);
      return;
    }
    if (response.status !== 200) {
      ledger.wrong.push(`a call: ${response.status} ${await response.text()}`);
      return;
    }
    await readEvents(response, hear);
    const until = performance.now() + patienceMs;
    while (answers === 0 && last !== undefined && performance.now() < until) {
      const { 'content-type': _, ...rest } = headers;
      const resuming = { ...rest, accept: 'text/event-stream', 'last-event-id': last };
      const resumed = await insist('a stream', () => ask({ headers: resuming }));
      if (resumed?.status !== 200) {
        const text = await resumed?.text();
        if (resumed?.status === 400 && text?.includes('no event with that Last-Event-ID'))
          ledger.unresumable++;
        else ledger.wrong.push(`a stream could not be resumed: ${resumed?.status} ${text}`);
        return;
      }
      ledger.resumed++;
      await readEvents(resumed, hear);
    }
    if (answers > 1) ledger.wrong.push(`${label} had ${answers} answers`);
    if (answers === 0 && last !== undefined)
      ledger.wrong.push(`${label} had no answer, and its stream no end`);
  }

  async function live(): Promise<void> {
    while (!signal.aborted) {
      const login = await logIn();
      if (!login) return;
      for (let turn = 0; turn < 4 && !signal.aborted; turn++) {
        const headers = await openSession(login.tokens);
        for (let at = 1; headers && at <= 5 && !signal.aborted; at++) await call(headers, at);
        await renew(login);
      }
      if (ledger.live.length > ledger.ended.length) {
        const token = login.tokens.refresh_token;
        const revoked = await insist('a revocation', () =>
          post(`${url}/revoke`, { client_id: login.clientId, token }),
        );
        if (revoked?.status === 200) ledger.ended.push(login);
      } else ledger.live.push(login);
    }
  }

  await Promise.all(Array.from({ length: clients }, live));
}

/** Returns the status of a request once it is not of 5xx, which says nothing about a token. */
async function statusOf(send: () => Promise<number>): Promise<number> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const status = await send();
    if (status < 500 || performance.now() > until) return status;
    await sleep(200);
  }
}

/** Holds a ledger against the installation once the load has ended; faults become entries of `wrong`. */
export async function checkLedger(
  { url, mcpUrl, runs, administer }: Pick<NodeProcesses, 'url' | 'mcpUrl' | 'runs' | 'administer'>,
  { sent, answered, live, ended, clients, wrong }: Ledger,
): Promise<void> {
  const refreshed = async (clientId: string, token: string): Promise<number> =>
    (await refresh(url, clientId, token)).status;
  const counts = new Map<string, number>();
  for (const label of runs()) counts.set(label, (counts.get(label) ?? 0) + 1);
  for (const [label, count] of counts) if (count > 1) wrong.push(`${label} ran ${count} times`);
  for (const label of counts.keys()) if (!sent.includes(label)) wrong.push(`${label} ran and was not sent`);
  for (const label of answered) if (!counts.has(label)) wrong.push(`${label} was answered and did not run`);
  for (const { clientId, tokens } of live) {
    const { access_token: access, refresh_token: token } = tokens;
    if ((await statusOf(() => tryAccess(mcpUrl, access))) !== 200) wrong.push('an access token is lost');
    if ((await statusOf(() => refreshed(clientId, token))) !== 200) wrong.push('a refresh token is lost');
  }
  for (const { clientId, tokens } of ended) {
    const { access_token: access, refresh_token: token } = tokens;
    if ((await statusOf(() => tryAccess(mcpUrl, access))) !== 401)
      wrong.push('a revoked access token is back');
    if ((await statusOf(() => refreshed(clientId, token))) !== 400)
      wrong.push('a revoked refresh token is back');
  }
  const { verdict, known } = await administer(async (administration) => ({
    verdict: await administration.audit.verify(),
    known: new Set((await administration.clients.list()).map(({ clientId }) => clientId)),
  }));
  if (!verdict.isWhole) wrong.push(`the audit log has faults: ${JSON.stringify(verdict.faults)}`);
  for (const id of clients) if (!known.has(id)) wrong.push(`the client ${id} is lost`);
}

/** Describes what a ledger has counted. */
export function describeLedger(ledger: Ledger): string {
  const { sent, answered, live, ended, clients, resumed, unresumable, interrupted, unavailable, callMs } =
    ledger;
  return JSON.stringify({
    ...{ calls: sent.length, answered: answered.length, resumed, unresumable, interrupted, unavailable },
    ...{ logins: clients.length, live: live.length, ended: ended.length, callTimes: describeTimes(callMs) },
  });
}
