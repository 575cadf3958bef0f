import type { ToleranceName } from '../../oauth/tolerances.ts';
import { type Logger, loggable } from '../../observability/logger.ts';
import type { Tolerated } from './tolerate.ts';

/** Which tolerances are on: those that are not switched off. */
export type ToleranceSwitches = Readonly<Partial<Record<ToleranceName, boolean>>>;

/** Pairs of client and tolerance that were logged once are remembered up to this many; then all are forgotten. */
const maxRemembered = 10_000;

/** The tolerances of an installation. */
export interface Tolerances {
  isOn(name: ToleranceName): boolean;
  /** Whether a quirk is let through at once, outside of a request to the authorization server; notes it in the log. */
  tolerate(name: ToleranceName, because: string): boolean;
  /**
   * Logs that a quirk was let through: at `info` the first time for a client, at `debug` from then on.
   * @param clientId undefined where the client was not known yet
   */
  note(tolerated: Tolerated, clientId: string | undefined, requestId?: string): void;
}

/**
 * Creates the tolerances of an installation.
 * @param switches those that are switched off, or on
 */
export function createTolerances(switches: ToleranceSwitches, logger: Logger): Tolerances {
  const logged = new Set<string>();
  const isOn = (name: ToleranceName): boolean => switches[name] ?? true;
  const note: Tolerances['note'] = ({ tolerance, because }, clientId, requestId) => {
    const pair = `${tolerance} ${clientId ?? ''}`;
    const level = logged.has(pair) ? 'debug' : 'info';
    if (logged.size >= maxRemembered) logged.clear();
    logged.add(pair);
    logger[level](
      { tolerance, clientId: loggable(clientId), because: loggable(because), requestId },
      `quirk ${tolerance} tolerated`,
    );
  };
  return {
    isOn,
    note,
    tolerate(tolerance, because) {
      if (!isOn(tolerance)) return false;
      note({ tolerance, because }, undefined);
      return true;
    },
  };
}
