/** A host, with or without a port and a path, and no scheme before it; one without a dot needs the port. */
const schemeless = /^(?:localhost|\[[\da-f:]+\]|[\w-]+(?:\.[\w-]+)+|[\w-]+(?=:\d))(?::\d+)?(?:\/|$)/i;

/** Hosts where plain http is usual: this machine, and names of a private network. */
const near = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|[\w-]+(?=:\d))(?=[:/]|$)/i;

/** @returns what to try where the scheme was left out of a URL; undefined where that is not what is wrong */
export function hintAtScheme(url: string): string | undefined {
  if (!schemeless.test(url)) return undefined;
  return `Did you mean ${near.test(url) ? 'http' : 'https'}://${url}?`;
}
