import { StorageFault, StorageUnavailable, StorageUnreachable } from '../../storage.ts';

/**
 * Classes of SQLSTATE in which the statement is at fault, not the server's state.
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const faultyClasses = new Set(['21', '22', '23', '26', '2F', '39', '42', 'P0']);

/** SQLSTATEs of a named statement that another connection of a pooler has, or has not. */
const namingFaults: ReadonlySet<string> = new Set(['26000', '42P05']);

/** SQLSTATEs of a server that will not take this client, whatever the time. */
const refusals: Readonly<Record<string, string>> = {
  '28000': 'PostgreSQL refuses this user. Check user and password in the URL, and pg_hba.conf.',
  '28P01': 'PostgreSQL refuses this user. Check user and password in the URL, and pg_hba.conf.',
  '3D000': 'PostgreSQL has no database of this name. Create it, or correct the URL.',
  '42501':
    'This user may not create tables there. Give it a schema of its own (CREATE SCHEMA … AUTHORIZATION …).',
};

/** The database was upgraded while this program ran, and programs of its schema cannot use it any more. */
export class ProgramTooOld extends StorageUnavailable {
  constructor(options?: ErrorOptions) {
    super('the database was upgraded beyond this program: stop it, and install the newer version', options);
  }
}

/** The answer of a commit was lost: the transaction is committed, or will not be, once its connection has ended. */
export class CommitUnknown extends StorageUnavailable {
  constructor(options?: ErrorOptions) {
    super(
      'the connection to the database was lost during a commit; whether it was written is not known',
      options,
    );
  }
}

/** Returns whether a write was refused because the program is too old for the database. */
export function isBeyondProgram(error: unknown): boolean {
  return (error as { constraint?: unknown }).constraint === 'writer_knows_schema';
}

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
  if (namingFaults.has(codeOf(error)))
    return new StorageUnavailable(
      'a pooler gives each transaction another connection to the database: set storage.pooled',
      { cause: error },
    );
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

/** Problems of TLS, by the code of the error. */
const tlsFaults: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name. Check the host in the URL',
  CERT_HAS_EXPIRED: 'its certificate has expired. Renew it',
  ...Object.fromEntries(
    [
      ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT'],
      ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'CERT_SIGNATURE_FAILURE'],
    ].map((code) => [
      code,
      'its certificate is of an authority that is not trusted. Name the certificate of the authority with sslrootcert in the URL',
    ]),
  ),
};

/** Message of the driver if a server takes only connections without TLS. */
const noTls = 'The server does not support SSL connections';

/** Describes a problem of a file or of TLS; undefined if it is another one. */
function adviceOf(error: unknown): string | undefined {
  const { code = '', message, path, syscall } = error as NodeJS.ErrnoException;
  if (path !== undefined && syscall !== 'connect') return `${path} cannot be used (${code}).`;
  const fault = tlsFaults[code];
  if (fault !== undefined) return `PostgreSQL is not trusted: ${fault}.`;
  return message === noTls
    ? 'PostgreSQL offers no TLS, which the URL requires. Switch it on at the server (ssl = on), or write sslmode=disable if nobody else can read this network.'
    : undefined;
}

/** Turns an error of opening a database into a fault that says what to do; an AbortError stays as it is. */
export function toOpeningFault(error: unknown): Error {
  const { name, message } = error as Error;
  if (error instanceof StorageFault || name === 'KeyFileFault' || name === 'AbortError')
    return error as Error;
  const code = codeOf(error);
  const advice = refusals[code] ?? adviceOf(error);
  if (advice !== undefined) return new StorageFault(advice, { cause: error });
  if (!isOutage(error))
    return new StorageFault(`PostgreSQL cannot be used (${code}: ${message}).`, {
      cause: error,
    });
  const sentence = `PostgreSQL cannot be reached (${code || message}). Check host, port and TLS in the URL, and whether it runs.`;
  // Errors of Node's own, such as for a URL or a certificate that cannot be read, stay until somebody mends them.
  const mayPass = isDatabaseError(error) && !code.startsWith('ERR_');
  return new (mayPass ? StorageUnreachable : StorageFault)(sentence, { cause: error });
}
