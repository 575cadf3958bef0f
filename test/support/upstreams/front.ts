import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answers in the place of the stand-in. One that never ends its answer is a slow host. */
export type Fault = (request: IncomingMessage, response: ServerResponse) => void;

/** A body, as a stand-in is about to send it; what is given back is sent instead. */
export type Alteration = (answer: Record<string, unknown>) => unknown;

/** The HTTP server of a stand-in, and how to make it misbehave. */
export interface Front {
  /** `http://127.0.0.1:<port>`; not `localhost`, so that its cookies and those of a gatehouse there stay apart. */
  readonly url: string;
  /** Method and path of each request, in order. */
  readonly requests: string[];
  /** How many requests came to a path, by any method. */
  count(path: string): number;
  /** Makes a path answer otherwise from now on. */
  fault(path: string, fault: Fault): void;
  /** Changes what a path answers in JSON from now on. */
  alter(path: string, alteration: Alteration): void;
  /** Ends all faults and alterations. */
  behave(): void;
  /** Goes down, as a host that is restarted; what it knows stays. */
  down(): Promise<void>;
  /** Comes back on the same port. */
  up(): Promise<void>;
  stop(): Promise<void>;
}

const pathOf = (request: IncomingMessage): string => new URL(request.url ?? '/', 'http://host').pathname;

/** Lets a handler write its answer, and sends what became of it. Only for JSON that is written at once. */
function alterAnswer(response: ServerResponse, alteration: Alteration): void {
  const end = response.end.bind(response) as (body: string) => ServerResponse;
  response.writeHead = ((status: number, headers: Record<string, string> = {}) => {
    response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    return response;
  }) as ServerResponse['writeHead'];
  response.end = ((body?: unknown) => {
    const given = JSON.parse(String(body)) as Record<string, unknown>;
    Promise.resolve(alteration(given)).then((altered) => {
      const text = typeof altered === 'string' ? altered : JSON.stringify(altered);
      Reflect.deleteProperty(response, 'writeHead');
      response.setHeader('content-length', Buffer.byteLength(text));
      end(text);
    });
    return response;
  }) as ServerResponse['end'];
}

/** Starts one. @param handle is given once the URL is known */
export async function startFront(createHandler: (url: string) => RequestListener): Promise<Front> {
  const requests: string[] = [];
  const faults = new Map<string, Fault>();
  const alterations = new Map<string, Alteration>();
  let handler: RequestListener = () => undefined;
  let server: Server | undefined;
  let port = 0;
  const up = async (): Promise<void> => {
    server = createServer((request, response) => {
      const path = pathOf(request);
      requests.push(`${request.method} ${path}`);
      const fault = faults.get(path);
      if (fault) return fault(request, response);
      const alteration = alterations.get(path);
      if (alteration) alterAnswer(response, alteration);
      handler(request, response);
    });
    const listening = server;
    await new Promise<void>((resolve) => listening.listen(port, '127.0.0.1', resolve));
    port = (listening.address() as AddressInfo).port;
  };
  const down = async (): Promise<void> => {
    const closing = server;
    server = undefined;
    closing?.closeAllConnections();
    await new Promise<void>((resolve) => (closing ? closing.close(() => resolve()) : resolve()));
  };
  await up();
  const url = `http://127.0.0.1:${port}`;
  handler = createHandler(url);
  return {
    url,
    requests,
    count: (path) => requests.filter((line) => line.split(' ')[1] === path).length,
    fault: (path, fault) => void faults.set(path, fault),
    alter: (path, alteration) => void alterations.set(path, alteration),
    behave() {
      faults.clear();
      alterations.clear();
    },
    down,
    up,
    stop: down,
  };
}

/** Faults that any endpoint may have. */
export const faults = {
  /** A page in place of an answer, with markup and a secret-looking thing that must not go further. */
  page:
    (status = 500): Fault =>
    (_request, response) =>
      void response
        .writeHead(status, { 'content-type': 'text/html' })
        .end('<h1>Oops</h1><script>alert(1)</script> canary-of-a-page'),
  json:
    (status: number, body: unknown): Fault =>
    (_request, response) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
  notJson: (): Fault => (_request, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('{"access_token": canary'),
  /** Never answers. */
  silent: (): Fault => () => undefined,
  redirect:
    (location: string): Fault =>
    (_request, response) =>
      void response.writeHead(302, { location }).end(),
  huge:
    (bytes = 2 * 1024 * 1024): Fault =>
    (_request, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(`"${'x'.repeat(bytes)}"`),
};

/** Reads a form. */
export async function readForm(request: IncomingMessage): Promise<Record<string, string>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString()));
}

/** Who is named and how, in `Authorization: Basic`; undefined without. */
export function readBasic(request: IncomingMessage): { id: string; secret: string } | undefined {
  const [scheme, value = ''] = (request.headers.authorization ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'basic') return undefined;
  const [id = '', secret = ''] = Buffer.from(value, 'base64').toString().split(':').map(decodeURIComponent);
  return { id, secret };
}

/** The bearer token of a request; undefined without. */
export function readBearer(request: IncomingMessage): string | undefined {
  return /^(?:bearer|token) (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
}

/** Sends JSON. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Sends a page. */
export function sendPage(response: ServerResponse, title: string, body: string): void {
  response
    .writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
    .end(`<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>${body}</html>`);
}
