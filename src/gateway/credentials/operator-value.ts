import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';

const lineEnds = /[\r\n]+$/;

/** A value of the operator for everybody; or the reason why it cannot be read, without any part of it. */
type OperatorValue = { value: string } | { problem: string };

/**
 * Reads a credential for everybody from an environment variable or a file. Line ends at its end are removed.
 * @param ours environment of this process
 * @returns the value; or the problem if it is not set, or if other users of the machine can read it (T-163)
 */
export function readOperatorValue(
  from: { env: string } | { file: string },
  ours: Readonly<Record<string, string | undefined>>,
): OperatorValue {
  if ('file' in from) return readSecretFile(from.file);
  const value = Object.hasOwn(ours, from.env) ? ours[from.env]?.replace(lineEnds, '') : undefined;
  return value ? { value } : { problem: `the environment has no ${from.env}: set it` };
}

function readSecretFile(file: string): OperatorValue {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const mode = fstatSync(descriptor).mode & 0o777;
    if ((mode & 0o007) !== 0)
      return {
        problem: `${file} can be read by others (mode ${mode.toString(8)}): chmod 600 ${JSON.stringify(file)}`,
      };
    const value = readFileSync(descriptor, 'utf8').replace(lineEnds, '');
    return value === '' ? { problem: `${file} is empty` } : { value };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `${file} cannot be read${code ? ` (${code})` : ''}` };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
