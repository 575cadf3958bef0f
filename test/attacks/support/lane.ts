import { Agent, type ClientRequest, request as httpRequest } from 'node:http';
import type { Target } from './gates.ts';
import { type DoorName, type Shot, type Written, writeShot } from './hostile-messages.ts';

/** One caller at one door of one target: it sends one message after the other over kept connections. */
export interface Lane {
  target: Target;
  door: DoorName;
  /** The last messages that were sent here, the newest last. */
  recent: Shot[];
  /** Sends a hostile message. Resolves with the HTTP status, and what was answered at once. */
  shoot(shot: Shot): Promise<Answer>;
  /** Sends text as it is. */
  send(written: Written): Promise<Answer>;
  /** Sends a call that is allowed, with a text that says which it is. */
  call(text: string): Promise<Answer>;
  close(): void;
}

/** An answer to a POST. */
export interface Answer {
  /** 0 if the connection broke or nothing came in time. */
  status: number;
  body: string;
}

/** How long an answer is waited for, in milliseconds: hostile messages may ask for streams that never end. */
const usualPatienceMs = 2000;

/**
 * Opens a lane: begins a session or a stream if the door needs one.
 * @param hear receives whatever comes on a stream that is open for the caller; answers are then read to their end
 */
export async function openLane(
  target: Target,
  door: DoorName,
  { hear, patienceMs = usualPatienceMs }: { hear?: (text: string) => void; patienceMs?: number } = {},
): Promise<Lane> {
  const agent = new Agent({ keepAlive: true });
  const token = door === 'rest' ? target.tokens.rest : door === 'sse' ? target.tokens.sse : target.tokens.mcp;
  const bearer = { authorization: `Bearer ${token}` };
  const json = {
    ...bearer,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  let session: Record<string, string> = {};
  let postTo = `${target.path}${door === 'rest' ? '/rest' : '/mcp'}`;
  let stream: ClientRequest | undefined;
  const { listensAt } = target.gatehouse;

  const post = (headers: Record<string, string | string[]>, body: Buffer): Promise<Answer> =>
    new Promise((resolve) => {
      const all = { ...json, ...session, ...headers, 'content-length': String(body.length) };
      const kept = Object.entries(all).filter(([, value]) => value.length > 0 || typeof value === 'string');
      let request: ClientRequest;
      const end = (answer: Answer): void => {
        clearTimeout(timer);
        resolve(answer);
      };
      const timer = setTimeout(() => {
        request?.destroy();
        end({ status: 0, body: '' });
      }, patienceMs);
      try {
        request = httpRequest(listensAt, {
          agent,
          path: postTo,
          method: 'POST',
          headers: Object.fromEntries(kept),
        });
      } catch {
        // Node writes no such header, so nobody can send it from here.
        end({ status: -1, body: '' });
        return;
      }
      request.on('error', () => end({ status: 0, body: '' }));
      request.on('response', (response) => {
        let text = '';
        const status = response.statusCode ?? 0;
        response.setEncoding('utf8');
        response.on('error', () => end({ status, body: text }));
        response.on('data', (chunk: string) => {
          text += chunk;
          // A stream need not end: its first message is its answer here.
          if (!hear && response.headers['content-type'] === 'text/event-stream' && text.includes('data: {')) {
            end({ status, body: text });
            request.destroy();
          }
        });
        response.on('end', () => end({ status, body: text }));
      });
      request.end(body);
    });

  const enter = async (): Promise<void> => {
    session = {};
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'attacker', version: '1' },
    };
    const hello = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }));
    if (door === 'session') {
      session = await openSession(listensAt, postTo, json, hello);
      if (hear) stream = listen(listensAt, postTo, { ...bearer, ...session }, hear);
    } else if (door === 'sse') {
      const opened = await openStream(listensAt, `${target.path}/sse`, bearer, hear);
      stream = opened.request;
      postTo = opened.postTo;
      await post({}, hello);
    } else return;
    await post({}, Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}'));
  };
  await enter();

  const send = async (written: Written): Promise<Answer> => {
    const answer = await post(written.headers, written.body);
    // A hostile message may end its own session, which is its right.
    if (
      answer.status === 404 &&
      (await post({}, Buffer.from('{"jsonrpc":"2.0","id":5,"method":"ping"}'))).status === 404 &&
      door !== 'modern'
    )
      await enter();
    return answer;
  };
  const recent: Shot[] = [];
  let calls = 0;
  return {
    target,
    door,
    recent,
    shoot(shot) {
      recent.push(shot);
      if (recent.length > 4) recent.shift();
      return send(writeShot(shot, target.naming));
    },
    send,
    call(text) {
      const name = target.naming.keys ? `${target.naming.keys[0]}_read_note` : 'read_note';
      const meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'attacker', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const isModern = door === 'modern';
      const params = { name, arguments: { text }, ...(isModern && { _meta: meta }) };
      const body = JSON.stringify({ jsonrpc: '2.0', id: `call-${++calls}`, method: 'tools/call', params });
      const mirrors = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name };
      return send({ body: Buffer.from(body), headers: isModern ? mirrors : {} });
    },
    close() {
      stream?.destroy();
      agent.destroy();
    },
  };
}

function openSession(
  listensAt: string,
  path: string,
  headers: Record<string, string>,
  hello: Buffer,
): Promise<Record<string, string>> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(listensAt, { agent: false, path, method: 'POST', headers });
    request.on('error', reject);
    request.on('response', (response) => {
      const id = response.headers['mcp-session-id'];
      response.resume();
      response.on('end', () =>
        typeof id === 'string'
          ? resolve({ 'mcp-session-id': id, 'mcp-protocol-version': '2025-06-18' })
          : reject(new Error(`No session at ${path}: ${response.statusCode}`)),
      );
    });
    request.end(hello);
  });
}

function openStream(
  listensAt: string,
  path: string,
  headers: Record<string, string>,
  hear: (text: string) => void = () => undefined,
): Promise<{ request: ClientRequest; postTo: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(listensAt, {
      agent: false,
      path,
      headers: { ...headers, accept: 'text/event-stream' },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('error', () => undefined);
      response.on('data', (chunk: string) => {
        hear(chunk);
        if (text.length < 2000) text += chunk;
        const postTo = /event: endpoint\ndata: (\S+)/.exec(text)?.[1];
        if (postTo !== undefined) resolve({ request, postTo });
      });
      response.on('end', () => reject(new Error(`No stream at ${path}: ${response.statusCode} ${text}`)));
    });
    request.end();
  });
}

function listen(
  listensAt: string,
  path: string,
  headers: Record<string, string>,
  hear: (text: string) => void,
): ClientRequest {
  const request = httpRequest(listensAt, {
    agent: false,
    path,
    headers: { ...headers, accept: 'text/event-stream' },
  });
  request.on('error', () => undefined);
  request.on('response', (response) => {
    response.setEncoding('utf8').on('error', () => undefined);
    response.on('data', hear);
  });
  request.end();
  return request;
}
