import type { Check } from '../check.ts';
import { browserCheck } from './browser.ts';
import { callbackPortCheck } from './callback-port.ts';
import { hostChecks } from './hosts/host-checks.ts';
import { locksCheck } from './locks.ts';
import type { Machine } from './machine.ts';
import { proxyVariablesCheck } from './proxy-variables.ts';
import { runtimeCheck } from './runtime.ts';
import { storeCheck } from './store.ts';
import { trustCheck } from './trust.ts';
import { twoStoresCheck } from './two-stores.ts';

/** Choices of the caller. */
export interface MachineOptions {
  /** The callback port the user fixed; a free one unless told. */
  callbackPort?: number;
}

/**
 * Checks of the machine the client runs on, in the order of the report. They ask the server nothing.
 * @param machine the machine
 * @param options choices of the caller
 */
export function machineChecks(machine: Machine, options: MachineOptions = {}): readonly Check[] {
  return [
    runtimeCheck(machine),
    storeCheck(machine),
    twoStoresCheck(machine),
    locksCheck(machine),
    callbackPortCheck(options.callbackPort),
    browserCheck(machine),
    proxyVariablesCheck(machine),
    trustCheck(machine),
    ...hostChecks(machine),
  ];
}
