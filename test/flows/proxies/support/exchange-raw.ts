import { connect } from 'node:net';

/** How long silence is waited for before the line is cut. */
const quietMs = 300;

/**
 * Sends bytes as they are, and gives all that came back until the line was closed or silent for a while.
 * @param origin where to
 */
export function exchangeRaw(origin: string, bytes: string): Promise<string> {
  const { port } = new URL(origin);
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').setTimeout(quietMs, () => socket.destroy());
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
    socket.write(bytes, 'latin1');
  });
}
