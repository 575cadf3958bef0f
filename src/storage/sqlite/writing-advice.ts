/**
 * Says what to do where a data folder cannot be written.
 * @param code of the system's error; `EROFS` is a file system that is mounted read-only, which no rights change
 * @param otherwise the advice where it is any other
 */
export function adviseOnWriting(code: string | undefined, otherwise: string): string {
  return code === 'EROFS'
    ? 'Its file system is mounted read-only, and a server needs one that is not: mount it for writing, or name another data folder.'
    : otherwise;
}
