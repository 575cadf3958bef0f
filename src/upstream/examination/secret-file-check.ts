import { statSync } from 'node:fs';
import type { UpstreamSettings } from '../upstream-settings.ts';
import { doubtful, sound, type UpstreamFinding } from './finding.ts';

/**
 * Checks whether other users of the machine can read the file with what this server proves itself with (T-163). Windows has no
 * such bits.
 * @param settings of one upstream, whose file was read a moment ago
 * @returns none where no file is named
 */
export function checkSecretFile({
  clientSecretFile,
  clientKeyFile,
}: Pick<UpstreamSettings, 'clientSecretFile' | 'clientKeyFile'>): UpstreamFinding[] {
  const file = clientSecretFile ?? clientKeyFile;
  if (file === undefined || process.platform === 'win32') return [];
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return [];
  const mode = found.mode & 0o777;
  return [
    (mode & 0o004) === 0
      ? sound('UP-SECRET', `${file} can be read, and not by others.`)
      : doubtful(
          'UP-SECRET',
          `${file} can be read by others (mode ${mode.toString(8)}).`,
          `chmod 600 ${JSON.stringify(file)}`,
        ),
  ];
}
