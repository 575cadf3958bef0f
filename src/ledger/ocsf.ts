import type { CallOutcome, CallRow } from '../storage/calls.ts';

/** A call on its way out: without its arguments. */
export interface ExportedCall extends Omit<CallRow, 'arguments'> {
  /** Id of the ledger in which `seq` is the position. */
  ledger: string;
}

/** An event of the audit log on its way out. */
export interface ExportedEvent {
  /** Position in the log, which is used again after a restore. */
  seq: number;
  /** Hash of the event and all before it: it identifies the event. */
  hash: string;
  /** Epoch milliseconds. */
  at: number;
  event: string;
  details: Record<string, string>;
}

/** Version of the Open Cybersecurity Schema Framework. */
const schemaVersion = '1.3.0';

/** Classes of events, by the first part of their name. Others are API activity. */
const classes: Readonly<Record<string, { uid: number; category: number; name: string }>> = {
  login: { uid: 3002, category: 3, name: 'Authentication' },
  session: { uid: 3002, category: 3, name: 'Authentication' },
  account: { uid: 3001, category: 3, name: 'Account Change' },
  consent: { uid: 3005, category: 3, name: 'User Access Management' },
  grant: { uid: 3005, category: 3, name: 'User Access Management' },
};

const apiActivity = { uid: 6003, category: 6, name: 'API Activity' };

/** `activity_id` of everything that the class has no number for. */
const otherActivity = 99;

const activities: Readonly<Record<string, number>> = {
  'login.succeeded': 1,
  'login.failed': 1,
  'login.ended': 2,
  'session.ended': 2,
  'account.created': 1,
  'account.added': 1,
  'account.disabled': 5,
  'account.enabled': 2,
  'account.removed': 6,
  'account.password_changed': 3,
  'account.password_reset': 4,
  'consent.granted': 1,
  'grant.revoked': 2,
};

const informational = 1;
const medium = 3;

function base(cls: typeof apiActivity, activity: number, uid: string, version: string) {
  return {
    class_uid: cls.uid,
    class_name: cls.name,
    category_uid: cls.category,
    activity_id: activity,
    type_uid: cls.uid * 100 + activity,
    metadata: { version: schemaVersion, uid, product: { name: 'Gatehouse', version } },
  };
}

const failures: ReadonlySet<CallOutcome> = new Set<CallOutcome>([
  'tool_error',
  'error',
  'refused',
  'timed_out',
]);

/** Returns a call as API Activity (6003) of OCSF. */
export function callToOcsf(call: ExportedCall, version: string): object {
  const isFailure = failures.has(call.outcome);
  return {
    ...base(apiActivity, otherActivity, `calls:${call.ledger}:${call.seq}`, version),
    time: call.at,
    duration: call.ms,
    severity_id: call.outcome === 'refused' ? medium : informational,
    status_id: isFailure ? 2 : 1,
    status_code: call.reason ?? call.outcome,
    actor: { user: { uid: call.account }, app_uid: call.client },
    api: {
      operation: call.method,
      service: { name: call.backend ?? call.route },
      request: { uid: call.requestId },
    },
    resources: call.target === null ? [] : [{ name: call.target, type: call.method.split('/')[0] }],
    unmapped: { gatehouse: call },
  };
}

/** Returns an event of the audit log as OCSF. */
export function eventToOcsf(event: ExportedEvent, version: string): object {
  const { details } = event;
  const cls = classes[event.event.split('.')[0] ?? ''] ?? apiActivity;
  const isFailure = /failed|refused|throttled|denied|detected|noticed/.test(event.event);
  return {
    ...base(cls, activities[event.event] ?? otherActivity, `audit:${event.seq}:${event.hash}`, version),
    time: event.at,
    severity_id: isFailure ? medium : informational,
    status_id: isFailure ? 2 : 1,
    ...(details.reason !== undefined && { status_detail: details.reason }),
    actor: { user: { uid: details.accountId ?? details.operator ?? 'unknown' }, app_uid: details.clientId },
    ...(details.address !== undefined && { src_endpoint: { ip: details.address } }),
    api: { operation: event.event, request: { uid: details.requestId } },
    unmapped: { gatehouse: event },
  };
}
