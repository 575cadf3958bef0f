/** 4xx that say nothing about the age of a server: credentials, rights and load. */
const notAboutAge = new Set([401, 402, 403, 407, 408, 429]);

/**
 * Whether a status says that a server does not know what was asked, not that it does not let the asker in.
 * @param status of an HTTP answer
 */
export function isAboutTheRequest(status: number): boolean {
  return status >= 400 && status < 500 && !notAboutAge.has(status);
}
