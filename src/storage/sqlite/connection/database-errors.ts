/** Returns the SQLite or system code of an error; empty if it has none. */
function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code ?? '');
}

/**
 * Returns whether an error means that a file is damaged or no database.
 * @see https://www.sqlite.org/rescode.html#corrupt
 */
export function isDamage(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_CORRUPT') || codeOf(error) === 'SQLITE_NOTADB';
}

/**
 * Returns whether an error means that the disk is full. SQLite also reports this for a WAL index that cannot grow,
 * which it creates at each start.
 * @see https://www.sqlite.org/rescode.html#ioerr_shmsize
 */
export function isFullDisk(error: unknown): boolean {
  return ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT'].includes(codeOf(error));
}

/**
 * Returns advice for a data folder that cannot be written.
 * @param code code of the system error; `EROFS` is a read-only file system, which permissions do not change
 * @param otherwise advice for any other code
 */
export function adviseOnWriting(code: string | undefined, otherwise: string): string {
  return code === 'EROFS'
    ? 'Its file system is mounted read-only, and a server needs one that is not: mount it for writing, or name another data folder.'
    : otherwise;
}
