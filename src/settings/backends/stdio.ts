import { z } from 'zod';
import { variableName } from '../credentials.ts';
import { stdioCallerSettings } from './caller.ts';

const whole = (least: number, most: number) => z.int().min(least).max(most).optional();

const limits = z.strictObject({
  memoryMegabytes: whole(16, 1_000_000).describe(
    'writable memory of each process, in megabytes; Node programs need 500 and more',
  ),
  cpuSeconds: whole(1, 10_000_000).describe(
    'CPU time of each process over its whole life, in seconds; then the system ends it',
  ),
  openFiles: whole(16, 1_000_000).describe('open files and connections of each process'),
  processes: whole(1, 100_000).describe(
    'processes in the group of a process; beyond it the whole group is ended',
  ),
});

const sandbox = z.strictObject({
  network: z.boolean().default(false).describe('the process has network access'),
  readable: z
    .array(z.string().regex(/^\//, { error: 'must be an absolute path' }))
    .default([])
    .describe('additional readable paths besides the programs of the system: its installation'),
});

/** Setting: a backend that is a program. */
export const stdioBackendSettings = z.strictObject({
  command: z.string().min(1).describe('the program: a path, or a name to find in PATH; no shell is used'),
  args: z.array(z.string()).default([]).describe('its arguments, passed as they are'),
  env: z
    .union([z.array(variableName), z.record(variableName, z.string())])
    .default([])
    .describe(
      'names of variables of our environment that it receives, or variables with their values, which are secrets; besides these it receives only PATH, HOME, LANG, TERM and TMPDIR',
    ),
  process: z
    .enum(['session', 'account', 'shared'])
    .default('session')
    .describe(
      'sharing of a process: only by the requests of one account with one client that belong to no session; by all sessions and clients of an account; or by everybody, for programs that keep no user data and send no requests to their client',
    ),
  caller: stdioCallerSettings,
  idleSeconds: z
    .int()
    .min(1)
    .max(604_800)
    .default(3600)
    .describe(
      'seconds after which an unused process is stopped; its session continues with a new process, and what the program kept in memory is lost',
    ),
  accountFolders: z
    .string()
    .min(1)
    .optional()
    .describe(
      'folder in which each account has a private folder, the working directory, HOME and TMPDIR of its processes; default: all work in the working directory of Gatehouse',
    ),
  limits: limits.optional().describe('resource limits of each process; default: none'),
  sandbox: sandbox
    .optional()
    .describe(
      'runs each process in a bubblewrap sandbox: it can write to its own folder and a private /tmp, and sees no other process; rejected if bubblewrap is missing or does not work',
    ),
  spare: z
    .union([z.literal(0), z.literal(1)])
    .default(0)
    .describe('processes started in advance; not with personal credentials or folders'),
  pingSeconds: z
    .int()
    .min(0)
    .max(3600)
    .default(30)
    .describe(
      'seconds without a message after which a process is pinged; a process that misses pings is replaced; 0 for never',
    ),
  maxAnswerValues: z
    .int()
    .min(1000)
    .max(10_000_000)
    .default(50_000)
    .describe(
      'maximum number of values in a response, arrays and objects included; a million block the server for half a second',
    ),
  maxProcesses: z
    .int()
    .min(1)
    .max(10_000)
    .default(50)
    .describe('maximum number of processes; an account has at most a fifth of them'),
});
