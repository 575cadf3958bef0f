import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** A JSON-RPC message, as it came. */
export interface Received {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

/** One HTTP request to a gatehouse. */
export interface Sent {
  port: number;
  method?: 'GET' | 'POST' | 'DELETE';
  path: string;
  headers: Record<string, string>;
  body?: unknown;
  /** Which connections it shares; `calls` unless told. */
  among?: keyof typeof agents;
  /** Breaks it off. */
  signal?: AbortSignal;
  /** Says that the answer begins. */
  onBegin?: () => void;
  /** Takes each message of the answer as it comes, JSON or event stream. */
  onMessage?: (message: Received) => void;
  /** Takes events that carry no JSON-RPC message. */
  onEvent?: (name: string, data: string) => void;
}

/**
 * Node takes one new connection in a turn of its event loop, so a server that is kept busy on a thousand of them takes
 * minutes for the next ones. Calls share some; streams, and answers that calls wait for, never wait behind calls. Idle
 * connections end before the server closes them, after five seconds at the earliest.
 */
const keptFor = { keepAlive: true, timeout: 4_000 };
const agents = {
  calls: new Agent({ ...keptFor, maxSockets: 128 }),
  answers: new Agent({ ...keptFor, maxSockets: 32 }),
  streams: new Agent(keptFor),
};

/** Ends all connections that were kept. */
export function endConnections(): void {
  for (const agent of Object.values(agents)) agent.destroy();
}

/** Number of requests that were sent again, as no node could serve them at that moment; undefined while none is. */
let sentAgain: number | undefined;

/** Has requests that are answered with 503 and `Retry-After` sent again from now on, as clients of several nodes do. */
export function sendAgainIfUnavailable(): () => number {
  sentAgain = 0;
  return () => sentAgain ?? 0;
}

/** Sends a request; resolves when its answer ended. Connections are kept alive. */
export async function send(sent: Sent): Promise<{ status: number; headers: IncomingHttpHeaders }> {
  for (;;) {
    const answer = await sendOnce(sent);
    const { status, headers } = answer;
    if (sentAgain === undefined || status !== 503 || headers['retry-after'] === undefined) return answer;
    sentAgain++;
    await sleep(Number(headers['retry-after']) * 1_000);
  }
}

function sendOnce(sent: Sent): Promise<{ status: number; headers: IncomingHttpHeaders }> {
  const { port, method = 'POST', path, body, among = 'calls' } = sent;
  const agent = agents[among];
  const text = body === undefined ? undefined : JSON.stringify(body);
  const breakOff = sent.signal ? { signal: sent.signal } : {};
  let hasBegun = false;
  return new Promise((resolve, reject) => {
    const headers: Record<string, string | number> = {
      accept: 'application/json, text/event-stream',
      ...(text === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      ...sent.headers,
    };
    const asked = request(
      { host: '127.0.0.1', port, method, path, headers, agent, ...breakOff },
      (response) => {
        const { statusCode = 0 } = response;
        hasBegun = true;
        if (statusCode === 503 && sentAgain !== undefined) {
          response.on('end', () => resolve({ status: statusCode, headers: response.headers })).resume();
          return;
        }
        sent.onBegin?.();
        response
          .on('error', reject)
          .on('end', () => resolve({ status: statusCode, headers: response.headers }));
        if (response.headers['content-type']?.startsWith('text/event-stream')) readStream(response, sent);
        else readJson(response, sent);
      },
    );
    asked.on('error', (error: NodeJS.ErrnoException) => {
      const isClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE';
      // The server closed the connection while it was idle, and has read nothing of the request. Browsers send it again, too.
      if (isClosed && asked.reusedSocket && !hasBegun) resolve(sendOnce(sent));
      else reject(error);
    });
    asked.end(text);
  });
}

function readJson(response: IncomingMessage, { onMessage }: Sent): void {
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  response.on('end', () => {
    if (text !== '') for (const message of [JSON.parse(text)].flat() as Received[]) onMessage?.(message);
  });
}

function readStream(response: IncomingMessage, { onMessage, onEvent }: Sent): void {
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      let name = 'message';
      let data = '';
      for (const line of text.slice(0, end).split('\n')) {
        if (line.startsWith('event: ')) name = line.slice('event: '.length);
        if (line.startsWith('data: ')) data = line.slice('data: '.length);
      }
      text = text.slice(end + 2);
      if (data.startsWith('{')) onMessage?.(JSON.parse(data) as Received);
      else if (data !== '') onEvent?.(name, data);
    }
  });
}
