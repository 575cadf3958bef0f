import type { AuditTrail } from '../authorization-server/index.ts';
import type { Memory } from '../gateway/index.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Storage } from '../storage/storage.ts';

/** What remembers tools, and who hears of changes. */
export interface ToolMemoryParts {
  storage: Pick<Storage, 'toolPins'>;
  auditTrail: AuditTrail;
  metrics: Pick<Metrics, 'countEvent'>;
  logger: Pick<Logger, 'warn'>;
  /** Epoch seconds. */
  now: () => number;
}

const changed = 'tool.definition_changed';

/** Composes the memory of tools, by route: a change stands in the audit log, and in the log as a warning (T-160). */
export function composeToolMemory({ storage, auditTrail, metrics, logger, now }: ToolMemoryParts) {
  return (route: string): Memory => ({
    route,
    store: storage.toolPins,
    noteChanged: (details) =>
      auditTrail.note(changed, { ...details }, () => {
        metrics.countEvent(changed);
        logger.warn(
          { audit: changed, ...details },
          'a tool of a backend is defined otherwise than it was: gatehouse pins list shows how',
        );
      }),
    now,
  });
}
