import { connect } from 'node:tls';
import type { RawAnswer } from '../../../support/raw-http.ts';

/**
 * Sends a request as it is over TLS to a proxy on this machine and reads until the proxy closes: no path is tidied up first.
 * @param port of the proxy
 * @param lines request line and header fields; `Connection: close` is added
 */
export function sendRawTls(port: number, lines: readonly string[], body = ''): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost' });
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
