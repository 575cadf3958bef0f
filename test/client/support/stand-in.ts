import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testFolder } from './folder.ts';

/**
 * A program that stands where one of another operating system would: it writes down how it was called.
 * @param script shell commands of what it does; `$seen` is a folder of its own
 * @returns the program, and that folder
 */
export function standIn(script: string): { command: string; seen: string } {
  const seen = testFolder();
  const command = join(seen, 'program');
  writeFileSync(command, `#!/bin/sh\nseen='${seen}'\nprintf '%s\\n' "$@" >> "$seen/arguments"\n${script}\n`);
  chmodSync(command, 0o700);
  return { command, seen };
}
