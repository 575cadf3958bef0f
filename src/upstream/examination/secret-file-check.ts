import { openToOthers } from '../open-to-others.ts';
import type { UpstreamSettings } from '../upstream-settings.ts';
import { doubtful, sound, type UpstreamFinding } from './finding.ts';

/**
 * Checks whether other users of the machine can read the file with what this server proves itself with (T-163).
 * @param settings of one upstream, whose file was read a moment ago
 * @returns none where no file is named
 */
export function checkSecretFile({
  clientSecretFile,
  clientKeyFile,
}: Pick<UpstreamSettings, 'clientSecretFile' | 'clientKeyFile'>): UpstreamFinding[] {
  const file = clientSecretFile ?? clientKeyFile;
  // Windows says nothing of who can read a file.
  if (file === undefined || process.platform === 'win32') return [];
  const mode = openToOthers(file);
  return [
    mode === undefined
      ? sound('UP-SECRET', `${file} can be read, and not by others.`)
      : doubtful(
          'UP-SECRET',
          `${file} can be read by others (mode ${mode}).`,
          `chmod 600 ${JSON.stringify(file)}`,
        ),
  ];
}
