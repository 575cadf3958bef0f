import { readFileSync } from 'node:fs';

/**
 * Returns the URL of a file of this package. The package is one folder up from `src`, and from `dist`, where the build
 * puts this code.
 * @param path from the root of the package
 */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** Returns the version of this package. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version;
}
