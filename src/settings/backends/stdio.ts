import { z } from 'zod';

const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'must be the name of a variable of the environment' });

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
  maxProcesses: z
    .int()
    .min(1)
    .max(10_000)
    .default(50)
    .describe('most processes at once; an account has a fifth of them at most'),
});

/** A program behind the gate, as it was set. */
export type StdioBackendSettings = z.output<typeof stdioBackendSettings>;
