/** The code of SQLite or of the system that an error bears; empty where it bears none. */
function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code ?? '');
}

/** Whether an error says that a file is no sound database. @see https://www.sqlite.org/rescode.html#corrupt */
export function isDamage(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_CORRUPT') || codeOf(error) === 'SQLITE_NOTADB';
}

/**
 * Whether an error says that the disk takes no more. SQLite names so a log or a database that cannot grow, and apart from
 * them the index of the log, which it makes at each start.
 * @see https://www.sqlite.org/rescode.html#ioerr_shmsize
 */
export function isFullDisk(error: unknown): boolean {
  return ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT'].includes(codeOf(error));
}
