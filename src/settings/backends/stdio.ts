import { z } from 'zod';

const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'must be the name of a variable of the environment' });

const whole = (least: number, most: number) => z.int().min(least).max(most).optional();

const limits = z.strictObject({
  memoryMegabytes: whole(16, 1_000_000).describe(
    'writable memory of each process, in megabytes; programs of Node need 500 and more',
  ),
  cpuSeconds: whole(1, 10_000_000).describe(
    'processor time of each process over its whole life, in seconds; then the system ends it',
  ),
  openFiles: whole(16, 1_000_000).describe('files and connections each process may have open'),
  processes: whole(1, 100_000).describe(
    'processes of the group of one; with more of them the whole group is ended',
  ),
});

const sandbox = z.strictObject({
  network: z.boolean().default(false).describe('whether it reaches the network'),
  readable: z
    .array(z.string().regex(/^\//, { error: 'must be an absolute path' }))
    .default([])
    .describe('paths it may read beside the programs of the system: where it is installed'),
});

/** A backend that is a program. */
export const stdioBackendSettings = z.strictObject({
  command: z
    .string()
    .min(1)
    .describe('the program: a path, or a name to look for in PATH; no shell reads it'),
  args: z.array(z.string()).default([]).describe('its arguments, as they are'),
  env: z
    .union([z.array(variable), z.record(variable, z.string())])
    .default([])
    .describe(
      'names of variables of our environment it gets, or variables with their values, which are secrets; beside PATH, HOME, LANG, TERM and TMPDIR it gets no others',
    ),
  process: z
    .enum(['session', 'account', 'shared'])
    .default('session')
    .describe(
      'who shares a process: nobody but the requests of one account with one client that belong to no session; all sessions and clients of an account; or everybody, for programs that keep nothing of a person and ask their client nothing',
    ),
  idleSeconds: z
    .int()
    .min(1)
    .max(604_800)
    .default(3600)
    .describe(
      'how long a process nobody uses is kept, in seconds; its session goes on with a new one, and what the program kept in memory is lost',
    ),
  accountFolders: z
    .string()
    .min(1)
    .optional()
    .describe(
      'a folder in which each account has a private one, where its processes work, and which is their HOME and TMPDIR; without it all work in the folder of this process',
    ),
  limits: limits.optional().describe('what each process may use; nothing is limited by default'),
  sandbox: sandbox
    .optional()
    .describe(
      'puts each process into a sandbox of bubblewrap: it writes its own folder and a /tmp of its own, and sees no other process; refused where bubblewrap is not installed or cannot work',
    ),
  spare: z
    .union([z.literal(0), z.literal(1)])
    .default(0)
    .describe(
      'processes that are started before anybody needs them; not with personal credentials or folders',
    ),
  pingSeconds: z
    .int()
    .min(0)
    .max(3600)
    .default(30)
    .describe(
      'how long a process may say nothing until it is pinged, in seconds; one that misses pings is replaced; 0 for never',
    ),
  maxAnswerValues: z
    .int()
    .min(1000)
    .max(10_000_000)
    .default(50_000)
    .describe(
      'most values in one of its answers, arrays and objects included; a million hold up everybody for half a second',
    ),
  maxProcesses: z
    .int()
    .min(1)
    .max(10_000)
    .default(50)
    .describe('most processes at once; an account has a fifth of them at most'),
});

/** A program behind the gate, as it was set. */
export type StdioBackendSettings = z.output<typeof stdioBackendSettings>;
