import { createServer, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';

/** A request as the server saw it. */
export interface SeenRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** What the server answers. `raw` writes to the response itself. */
export interface Answer {
  status?: number;
  headers?: Record<string, string | string[]>;
  json?: unknown;
  text?: string;
  raw?: (response: ServerResponse) => void;
}

/** `GET /path` -> answer. What is not listed is 404. */
export type Routes = Record<string, Answer | ((request: SeenRequest) => Answer)>;

/** A real HTTP server on loopback that plays a script and remembers what it was asked. */
export interface ScriptedServer {
  origin: string;
  routes: Routes;
  requests: SeenRequest[];
  /** `GET /path` of every request, in order. */
  asked(): string[];
}

function write(response: ServerResponse, answer: Answer): void {
  if (answer.raw) {
    answer.raw(response);
    return;
  }
  const json = answer.json === undefined ? undefined : JSON.stringify(answer.json);
  response.writeHead(answer.status ?? (json === undefined && answer.text === undefined ? 404 : 200), {
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    ...answer.headers,
  });
  response.end(json ?? answer.text ?? '');
}

/** Starts a server that stops at the end of the running test. */
export async function startServer(routes: Routes = {}): Promise<ScriptedServer> {
  const requests: SeenRequest[] = [];
  const scripted: ScriptedServer = {
    origin: '',
    routes,
    requests,
    asked: () => requests.map(({ method, path }) => `${method} ${path}`),
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://test');
    const seen = { method: request.method ?? '', path, query, headers: request.headers, body };
    requests.push(seen);
    const answer = scripted.routes[`${seen.method} ${path}`] ?? {};
    write(response, typeof answer === 'function' ? answer(seen) : answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no address');
  scripted.origin = `http://127.0.0.1:${address.port}`;
  return scripted;
}
