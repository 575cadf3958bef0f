import { userInfo } from 'node:os';
import { pinsReplaced, postToNodes } from '../../cluster/bus.ts';
import type { KeyRing } from '../../crypto/key-ring.ts';
import type { KeySet } from '../../crypto/key-schedule.ts';
import { createSealedBox } from '../../crypto/sealed-box.ts';
import type { Storage } from '../../storage/storage.ts';
import { administerAccountAccess, administerAccounts } from './accounts.ts';
import { administerAudit } from './audit.ts';
import { administerCalls } from './calls.ts';
import { administerClients } from './clients.ts';
import { administerCredentials } from './credentials.ts';
import { administerDefinitionPins } from './definition-pins.ts';
import { administerGrants } from './grants.ts';
import { administerKeys } from './keys.ts';
import { type RecordAction, recorded } from './recorded.ts';
import { administerSessions } from './sessions.ts';
import { administerUpstreams } from './upstreams.ts';

/**
 * Creates the operator's operations on the database of a running or a stopped server. Whatever is removed takes its
 * sessions, grants and tokens along, at once and in every process. What changes anything is noted in the audit log.
 * @param now epoch seconds; the clock of the machine by default
 * @param operator who does it; the user this process runs as by default
 */
export function createAdministration(
  { storage, keys, keyRing }: { storage: Storage; keys: KeySet; keyRing?: KeyRing },
  now: () => number = () => Math.floor(Date.now() / 1000),
  operator: string = operatingUser(),
) {
  const box = createSealedBox(keys.sealing);
  const record: RecordAction = (event, details) =>
    storage.audit.append([{ at: now(), event, details: { operator, ...details } }]);
  return {
    accounts: {
      ...recorded(
        administerAccounts(storage, now),
        {
          suggestPassword: undefined,
          add: 'account.added',
          list: undefined,
          show: undefined,
          disable: 'account.disabled',
          enable: 'account.enabled',
          remove: 'account.removed',
          setPassword: 'account.password_set',
        },
        record,
      ),
      ...recorded(
        administerAccountAccess({ storage, box, now }),
        {
          startPasswordReset: 'account.reset_begun',
          listSessions: undefined,
          endSessions: 'account.logins_ended',
          removeFactors: 'account.factors_removed',
        },
        record,
      ),
    },
    audit: administerAudit(storage.audit, () => keys.audit),
    calls: administerCalls({ calls: storage.calls, audit: storage.audit, key: () => keys.audit, record }),
    installation: administerInstallation(record),
    clients: recorded(
      administerClients(storage, box, now),
      {
        add: 'client.added',
        list: undefined,
        show: undefined,
        approve: 'client.approved',
        deny: 'client.denied',
        invite: 'client.invited',
        remove: 'client.removed',
      },
      record,
    ),
    credentials: administerCredentials(storage, record),
    grants: recorded(
      administerGrants(storage, box, now),
      { list: undefined, revoke: 'grant.revoked' },
      record,
    ),
    keys: administerKeys(keyRing, storage.sealedRows, record, now),
    sessions: recorded(
      administerSessions(storage, box, now),
      { list: undefined, end: 'session.ended' },
      record,
    ),
    nodes: { list: () => storage.nodes.listAll() },
    pins: administerDefinitionPins(storage.definitionPins, now, record, (route) =>
      postToNodes(storage, keys.audit, pinsReplaced, route, null),
    ),
    upstreams: administerUpstreams(storage, record),
  };
}

/**
 * Operations on the installation as a whole.
 * @param record takes note of it
 */
export function administerInstallation(record: RecordAction) {
  return {
    /**
     * Notes that a backup was put in the place of the data, behind what the backup knows of.
     * @param restored how old the backup is, epoch seconds, if it tells; whether what was issued was kept
     */
    async noteRestored({
      asOf,
      keptLogins,
    }: {
      asOf?: number | undefined;
      keptLogins: boolean;
    }): Promise<void> {
      await record('installation.restored', {
        ...(asOf === undefined ? {} : { asOf: new Date(asOf * 1000).toISOString() }),
        keptLogins: String(keptLogins),
      });
    },
    /**
     * Notes that the installation was copied here from another database.
     * @param from describes the other place
     */
    noteCopied: ({ from }: { from: string }): Promise<void> => record('installation.copied', { from }),
  };
}

/** Names who runs this process, as the machine knows them: what an audit log can say of an operator. */
export function operatingUser(): string {
  try {
    const { username, uid } = userInfo();
    return `${username} (${uid})`;
  } catch {
    // In a container, a user may have no name.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
