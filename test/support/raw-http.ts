import { connect, type Socket } from 'node:net';

/** An answer, as it came over the wire. */
export interface RawAnswer {
  status: number;
  /** Names in lower case; of repeated fields the last. */
  headers: Map<string, string>;
  body: string;
}

/**
 * Sends bytes as they are and reads until the server closes: for what `fetch` would tidy up first.
 * @param origin where the server listens
 * @param lines request line and header fields, without the final empty line; `Connection: close` is added
 * @param body sent after the head as it is
 */
export function sendRaw(origin: string, lines: readonly string[], body = ''): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin);
  return exchangeRaw(connect(Number(port), hostname), lines, body);
}

/** Sends bytes as they are on a connection of any kind and reads until the server closes. See {@link sendRaw}. */
export function exchangeRaw(socket: Socket, lines: readonly string[], body: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const end = text.indexOf('\r\n\r\n');
      const [statusLine = '', ...fields] = text.slice(0, end).split('\r\n');
      resolve({
        status: Number(statusLine.split(' ')[1]),
        headers: new Map(
          fields.map((field) => {
            const at = field.indexOf(':');
            return [field.slice(0, at).toLowerCase(), field.slice(at + 1).trim()];
          }),
        ),
        body: text.slice(end + 4),
      });
    });
    socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);
  });
}
