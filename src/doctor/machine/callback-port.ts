import { createServer } from 'node:net';
import { findPortHolder } from '../../client/node/port-holder.ts';
import type { Check } from '../check.ts';
import type { Judgement } from '../finding.ts';
import { fail, pass } from '../judgements.ts';

/** Reason why a port cannot be listened on, or the port itself. */
type Bound = { port: number } | { code: string };

/** Listens for a moment. */
function tryPort(host: string, port: number): Promise<Bound> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve({ code: 'code' in error ? String(error.code) : error.message }));
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve({ port: bound }));
    });
  });
}

const absent = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL']);

async function refused(host: string, port: number, code: string): Promise<Judgement> {
  const place = port === 0 ? `any port of ${host}` : `${host} port ${port}`;
  if (code !== 'EADDRINUSE')
    return fail(
      `${place} cannot be listened on (${code}), so no browser can come back.`,
      'Allow this user to listen on loopback (firewall, sandbox, security policy), or log in with --device or by pasting the address.',
    );
  const holder = await findPortHolder(port);
  const who = holder ? `${holder.name} (pid ${holder.pid}) listens there` : 'another process listens there';
  return fail(
    `${place} is taken: ${who}.`,
    holder
      ? `Stop pid ${holder.pid}, or choose another port: --callback-port. Without the option a free one is taken.`
      : `Find who it is (lsof -i :${port}), or choose another port: --callback-port. Without the option a free one is taken.`,
  );
}

/**
 * Returns true if a browser can come back to this machine: both loopback addresses, on the same port.
 * @param fixedPort the port the user wants; a free one unless told
 * @see RFC 8252 section 7.3 (CL-4, CL-7)
 */
export function callbackPortCheck(fixedPort = 0): Check {
  return {
    id: 'MACHINE-CALLBACK-PORT',
    section: 'machine',
    title: 'The answer of a login can come back to 127.0.0.1 and ::1',
    clause: 'RFC 8252 section 7.3',
    async judge() {
      const four = await tryPort('127.0.0.1', fixedPort);
      if ('code' in four) return refused('127.0.0.1', fixedPort, four.code);
      const six = await tryPort('::1', fixedPort);
      if ('port' in six)
        return pass(
          `127.0.0.1 and ::1 can both be listened on${fixedPort === 0 ? '' : `, port ${fixedPort}`}.`,
        );
      if (absent.has(six.code))
        return pass(`127.0.0.1 can be listened on; this machine has no ::1 (${six.code}).`);
      return refused('::1', fixedPort, six.code);
    },
  };
}
