import { z } from 'zod';
import { logLevels } from '../observability/logger.ts';
import { variableName } from './credentials.ts';

/** Settings: the listening address. */
export const listenSettings = z
  .strictObject({
    host: z.string().default('127.0.0.1').describe('address to listen on; 0.0.0.0 inside a container'),
    port: z.int().min(0).max(65_535).default(3000).describe('port to listen on; 0 for any free one'),
  })
  .prefault({})
  .describe('Address and port of the server.');

/** Settings: several nodes on one database. */
export const clusterSettings = z
  .strictObject({
    port: z
      .int()
      .min(0)
      .max(65_535)
      .optional()
      .describe('port for other nodes, on a private address; default: none, this process is the only node'),
    host: z
      .string()
      .min(1)
      .default('127.0.0.1')
      .describe('address of this machine to listen on for other nodes'),
    address: z
      .union([
        z.string().min(1),
        z.strictObject({
          env: variableName.describe('environment variable that holds it, such as POD_IP'),
        }),
      ])
      .optional()
      .describe('address or host name at which other nodes reach this one; default: host'),
  })
  .prefault({})
  .describe(
    'Several nodes on one database, behind any load balancer. A request for a session of another node is forwarded to it, encrypted and authenticated by the keys of the installation.',
  );

/** Setting: CPU scheduling between the server and other processes on Linux. */
export const schedulingSetting = z
  .enum(['batch', 'other'])
  .default('batch')
  .describe(
    'Linux scheduling of gatehouse serve and protect, and of the programs they start: batch lets a running process complete its time slice, which gives more throughput on shared cores; other is the usual policy.',
  );

const rotationDays = (defaultValue: number, description: string) =>
  z.int().min(0).max(3650).default(defaultValue).describe(description);

/** Settings: key rotation. */
export const rotationSettings = z
  .strictObject({
    signingDays: rotationDays(90, 'days a key signs tokens'),
    cookieDays: rotationDays(90, 'days a key signs cookies and forms'),
    sealingDays: rotationDays(365, 'days a key seals what the database holds'),
  })
  .prefault({})
  .describe(
    'Time after which the server creates the next key; 0 disables rotation. Clients and users do not notice it.',
  );

/** Settings: retention of the audit log. */
export const auditSettings = z
  .strictObject({
    keepDays: z.int().min(1).max(3650).default(365).describe('retention of events, in days'),
    maxEvents: z
      .int()
      .min(1000)
      .default(1_000_000)
      .describe('maximum number of events; the oldest are dropped first'),
  })
  .prefault({})
  .describe('The audit log in the database: gatehouse audit shows, exports and verifies it.');

/** Settings: the call ledger. */
export const callSettings = z
  .strictObject({
    store: z
      .enum(['database', 'off'])
      .default('database')
      .describe('database records calls in a file or schema of its own; off records none'),
    keepDays: z.int().min(1).max(3650).default(30).describe('retention of calls, in days'),
    maxCalls: z
      .int()
      .min(1000)
      .default(5_000_000)
      .describe('maximum number of calls, about 200 bytes each on SQLite; the oldest are dropped first'),
    keepHoursDays: z.int().min(1).max(3650).default(400).describe('retention of the sums by hour, in days'),
  })
  .prefault({})
  .describe('The call ledger: who called what. gatehouse calls lists, counts, exports and verifies it.');

const exportSource = z.union([
  z.strictObject({ env: variableName.describe('environment variable of this server that holds it') }),
  z.strictObject({
    file: z.string().min(1).describe('file that only its owner can read, relative to the config file'),
  }),
]);

/** Settings: records of the audit log and the call ledger for other systems. */
export const exportSettings = z
  .strictObject({
    records: z
      .array(z.enum(['audit', 'calls']))
      .min(1)
      .default(['audit', 'calls'])
      .describe('audit: events of the audit log; calls: calls of the ledger, without arguments'),
    format: z
      .enum(['json', 'ocsf'])
      .default('json')
      .describe(
        'json: as gatehouse audit export and calls export; ocsf: Open Cybersecurity Schema Framework 1.3',
      ),
    file: z
      .string()
      .min(1)
      .optional()
      .describe(
        'file to which each record is appended as a line of JSON, relative to the config file; - for standard output',
      ),
    url: z
      .string()
      .regex(/^https?:\/\/[^\s]+$/, {
        error: 'must be a URL that begins with https://, or http:// on this machine',
      })
      .optional()
      .describe('URL to which records are posted as lines of JSON, each at least once'),
    secret: exportSource
      .optional()
      .describe(
        'source of the key of X-Gatehouse-Signature, an HMAC-SHA-256 of each body; default: no signature',
      ),
  })
  .prefault({})
  .describe('Delivery of audit events and calls to other systems; nothing is delivered without file or url.');

/** Settings: the log. */
export const logSettings = z
  .strictObject({
    level: z.enum(logLevels).default('info').describe('minimum level written to standard error'),
  })
  .prefault({})
  .describe('The log: one JSON line per event.');

/** Settings: the metrics port. */
export const metricsSettings = z
  .strictObject({
    port: z
      .int()
      .min(0)
      .max(65_535)
      .optional()
      .describe('port of GET /metrics for Prometheus; default: none'),
    host: z.string().default('127.0.0.1').describe('address of that port; it requires no login'),
  })
  .prefault({})
  .describe('Metrics for an operator, on a port of their own. They name no user, client or token.');

/** Settings: traces. The variables of OpenTelemetry turn them on. */
export const traceSettings = z
  .strictObject({
    parent: z
      .enum(['follow', 'link'])
      .default('follow')
      .describe(
        'follow: a call continues the trace that its client names; link: it begins a trace of its own, with a link to that of the client',
      ),
  })
  .prefault({})
  .describe(
    'Traces of calls. The standard variables of OpenTelemetry, such as OTEL_EXPORTER_OTLP_ENDPOINT, turn them on.',
  );

/** Settings that make an installation unsafe. */
export const dangerousSettings = z
  .strictObject({
    fetchFromLoopback: z
      .boolean()
      .default(false)
      .describe('fetches client documents from this machine as well'),
    upstreamsOverHttp: z
      .boolean()
      .default(false)
      .describe('connects to upstreams on this machine, also without https'),
    trustOtherPorts: z
      .boolean()
      .default(false)
      .describe(
        'accepts a login cookie alone as proof of a login, although over http browsers send it to every port of the host',
      ),
  })
  .prefault({})
  .describe(
    'Unsafe settings for development: rejected unless publicUrl is on localhost, and logged at each start.',
  );
