import type { AuditTrail } from '../authorization-server/index.ts';
import type { KeySet } from '../crypto/key-schedule.ts';
import { failureOutcomes, readOperatorValue } from '../gateway/index.ts';
import {
  createLedger,
  type Deliver,
  deliverByHttp,
  deliverToFile,
  type Ledger,
  startExporter,
} from '../ledger/index.ts';
import { createOperatorFetch } from '../net/operator-fetch.ts';
import type { Logger } from '../observability/logger.ts';
import type { Settings } from '../options.ts';
import { SettingsRefused } from '../settings/issues.ts';
import type { Storage } from '../storage/storage.ts';

/** Parts of {@link composeLedger}. */
export interface LedgerParts {
  storage: Pick<Storage, 'audit' | 'calls' | 'exports'>;
  settings: Pick<Settings, 'calls' | 'export'>;
  keys: KeySet;
  auditTrail: Pick<AuditTrail, 'note'>;
  environment: Readonly<Record<string, string | undefined>>;
  /** Version of this program. */
  version: string;
  logger: Logger;
}

/** The call ledger and the exports of records. */
export interface Recording {
  /** Undefined if the settings record no calls. */
  ledger: Ledger | undefined;
  close(): Promise<void>;
}

/**
 * Composes the writing side of the call ledger, and starts the exports.
 * @throws SettingsRefused if the secret of an export cannot be read
 */
export function composeLedger(parts: LedgerParts): Recording {
  const { storage, settings, keys, auditTrail, logger } = parts;
  const nowMs = (): number => Date.now();
  const deliveries = deliveriesOf(parts);
  const ledger =
    settings.calls.store === 'off'
      ? undefined
      : createLedger({
          store: storage.calls,
          keys,
          reasons: failureOutcomes,
          audit: (event, details) => auditTrail.note(event, details),
          logger,
          nowMs,
        });
  const writer = crypto.randomUUID();
  const stops = Object.entries(deliveries).map(([name, deliver]) =>
    startExporter({
      ...{ name, writer, deliver, logger, nowMs, version: parts.version },
      ...{ records: settings.export.records, format: settings.export.format },
      calls: storage.calls,
      exports: storage.exports,
      audit: storage.audit,
    }),
  );
  return {
    ledger,
    async close() {
      await ledger?.close();
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

function deliveriesOf({ settings, environment }: LedgerParts): Record<string, Deliver> {
  const { file, url, secret } = settings.export;
  const read = secret && readOperatorValue(secret, environment);
  if (read && 'problem' in read) throw new SettingsRefused([`export.secret: ${read.problem}`]);
  const post = createOperatorFetch({ allowPrivateNetwork: true, dangerouslyFromLoopback: true });
  return {
    ...(file !== undefined && { file: deliverToFile(file) }),
    ...(url !== undefined && { url: deliverByHttp(url, read?.value, post) }),
  };
}
