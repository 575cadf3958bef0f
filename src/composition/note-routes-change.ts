import type { AuditTrail } from '../authorization-server/index.ts';
import type { Logger } from '../observability/logger.ts';
import type { RoutesChange } from './served-routes.ts';

/** Takes note that routes were replaced, where any of them is another now (T-197). */
export function noteRoutesChange(
  { added, changed, removed }: RoutesChange,
  { auditTrail, logger }: { auditTrail: Pick<AuditTrail, 'note'>; logger: Pick<Logger, 'info'> },
): void {
  const details = Object.fromEntries(
    Object.entries({ added, changed, removed })
      .filter(([, names]) => names.length > 0)
      .map(([what, names]) => [what, names.join(' ')]),
  );
  if (Object.keys(details).length === 0) return;
  const event = 'routes.replaced';
  auditTrail.note(event, details, () => logger.info({ audit: event, ...details }));
}
