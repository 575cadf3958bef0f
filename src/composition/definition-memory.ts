import type { AuditTrail } from '../authorization-server/index.ts';
import type { Memory } from '../gateway/index.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Storage } from '../storage/storage.ts';

/** Parts of {@link composeDefinitionMemory}. */
export interface DefinitionMemoryParts {
  storage: Pick<Storage, 'definitionPins'>;
  auditTrail: AuditTrail;
  metrics: Pick<Metrics, 'countEvent'>;
  logger: Pick<Logger, 'warn'>;
  /** Epoch seconds. */
  now: () => number;
}

const event = 'definition.changed';

/** Composes the pins of each route: a change stands in the audit log, and in the log as a warning (T-160, T-210). */
export function composeDefinitionMemory({
  storage,
  auditTrail,
  metrics,
  logger,
  now,
}: DefinitionMemoryParts) {
  return (route: string): Memory => ({
    route,
    store: storage.definitionPins,
    noteChanged: (change) =>
      auditTrail.note(event, { ...change }, () => {
        metrics.countEvent(event);
        logger.warn(
          { audit: event, ...change },
          `a backend changed ${changedThing[change.kind]}: gatehouse pins list shows how`,
        );
      }),
    now,
  });
}

const changedThing = {
  tool: 'the definition of a tool',
  prompt: 'the definition of a prompt',
  template: 'the definition of a resource template',
  instructions: 'its instructions',
} as const;
