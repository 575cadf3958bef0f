import { connect } from 'node:tls';
import { exchangeRaw, type RawAnswer } from '../../../support/raw-http.ts';

/**
 * Sends a request as it is over TLS to a proxy on this machine and reads until the proxy closes: no path is tidied up first.
 * @param port of the proxy
 * @param lines request line and header fields; `Connection: close` is added
 */
export function sendRawTls(port: number, lines: readonly string[], body = ''): Promise<RawAnswer> {
  return exchangeRaw(connect({ port, host: '127.0.0.1', servername: 'localhost' }), lines, body);
}
