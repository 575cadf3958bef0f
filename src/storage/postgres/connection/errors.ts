import { StorageFault, StorageUnavailable } from '../../storage.ts';

/**
 * Classes of SQLSTATE in which the statement is at fault, not the server's state.
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const faultyClasses = new Set(['21', '22', '23', '26', '2F', '39', '42', 'P0']);

/** SQLSTATEs of a server that will not take this client, whatever the time. */
const refusals: Readonly<Record<string, string>> = {
  '28000': 'PostgreSQL refuses this user. Check user and password in the URL, and pg_hba.conf.',
  '28P01': 'PostgreSQL refuses this user. Check user and password in the URL, and pg_hba.conf.',
  '3D000': 'PostgreSQL has no database of this name. Create it, or correct the URL.',
  '42501':
    'This user may not create tables there. Give it a schema of its own (CREATE SCHEMA … AUTHORIZATION …).',
};

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Returns whether an error is the server's or the network's: the same statement may succeed later. */
export function isOutage(error: unknown): boolean {
  const code = codeOf(error);
  // Errors of sockets have no SQLSTATE: a lost connection, a name that is not found, a statement that took too long.
  return !(/^[0-9A-Z]{5}$/.test(code) && faultyClasses.has(code.slice(0, 2)));
}

/** Turns an error of a read or write into StorageUnavailable if it is an outage; returns others as they are. */
export function toUnavailable(error: unknown, what: 'read' | 'written'): unknown {
  if (error instanceof StorageUnavailable || error instanceof StorageFault || !isDatabaseError(error))
    return error;
  return isOutage(error)
    ? new StorageUnavailable(`the database cannot be ${what} at the moment`, { cause: error })
    : error;
}

/** Returns whether an error came from the driver, the server or a socket, and not from our own code. */
function isDatabaseError(error: unknown): boolean {
  if (codeOf(error) !== '') return true;
  const { message = '' } = error as Error;
  return /^(Connection terminated|timeout exceeded|Query read timeout|Client (was closed|has encountered)|Cannot use a pool)/.test(
    message,
  );
}

/** Turns an error of opening a database into a fault that says what to do. */
export function toOpeningFault(error: unknown): Error {
  if (error instanceof StorageFault || (error as Error).name === 'KeyFileFault') return error as Error;
  const code = codeOf(error);
  const advice =
    refusals[code] ??
    (isOutage(error)
      ? `PostgreSQL cannot be reached (${code || (error as Error).message}). Check host, port and TLS in the URL, and whether it runs.`
      : `PostgreSQL cannot be used (${code}: ${(error as Error).message}).`);
  return new StorageFault(advice, { cause: error });
}
