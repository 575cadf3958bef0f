import type { ClientProfile } from '../oauth/client-profiles/client-profile.ts';
import type { Check } from './check.ts';
import { loginChecks } from './login/login-checks.ts';
import type { Machine } from './machine/machine.ts';
import { machineChecks } from './machine/machine-checks.ts';
import { passiveChecks } from './passive-checks.ts';
import { profileChecks } from './profiles/profile-checks.ts';
import { proxyChecks } from './proxy/proxy-checks.ts';
import type { ProxyOptions } from './proxy/proxy-options.ts';
import { registrationChecks } from './registration/registration-checks.ts';
import { spendingChecks } from './token/spending-checks.ts';
import { tokenChecks } from './token/token-checks.ts';

/** Input of the checks beside the server. */
export interface CheckOptions {
  machine: Machine;
  /** The callback port the user fixed. */
  callbackPort?: number | undefined;
  /** Means for the checks of what stands in front; they are left out if this is absent, as they take a minute. */
  proxy?: ProxyOptions | undefined;
  /** Known clients to be replayed; none unless told. */
  clients?: readonly ClientProfile[] | undefined;
}

/**
 * All checks in the order in which they run: what needs no login first, what spends tokens last.
 * @param options what they look at besides the server
 */
export function allChecks({ machine, callbackPort, proxy, clients = [] }: CheckOptions): readonly Check[] {
  return [
    ...passiveChecks,
    ...profileChecks(clients),
    ...machineChecks(machine, callbackPort === undefined ? {} : { callbackPort }),
    ...registrationChecks,
    ...loginChecks,
    ...tokenChecks,
    ...(proxy ? proxyChecks(proxy) : []),
    ...spendingChecks,
  ];
}
