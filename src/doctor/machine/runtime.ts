import type { Check } from '../check.ts';
import { fail, pass } from '../judgements.ts';
import type { Machine } from './machine.ts';

/** The oldest Node.js the package runs on, as in `engines` of package.json. */
const oldest = [22, 12] as const;

/**
 * Returns true if the runtime is one the package runs on. Nothing is asked of a registry: a diagnosis tells nobody that
 * it runs.
 * @param machine the machine
 */
export function runtimeCheck(machine: Machine): Check {
  return {
    id: 'MACHINE-RUNTIME',
    section: 'machine',
    title: 'Node.js is new enough',
    clause: 'package.json, engines',
    async judge() {
      const [major = 0, minor = 0] = machine.nodeVersion.split('.').map(Number);
      const enough = major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
      if (enough) return pass(`Node.js ${machine.nodeVersion} on ${machine.platform}.`);
      return fail(
        `Node.js ${machine.nodeVersion} is older than ${oldest.join('.')}.`,
        `Install Node.js ${oldest.join('.')} or later.`,
      );
    },
  };
}
