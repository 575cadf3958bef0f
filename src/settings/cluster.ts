import { z } from 'zod';

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
          env: z
            .string()
            .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'must be the name of a variable of the environment' })
            .describe('environment variable that holds it, such as POD_IP'),
        }),
      ])
      .optional()
      .describe('address or host name at which other nodes reach this one; default: host'),
  })
  .prefault({})
  .describe(
    'Several nodes on one database, behind any load balancer. A request for a session of another node is forwarded to it, encrypted and authenticated by the keys of the installation.',
  );

/** The settings of nodes after parsing. */
export type ClusterSettings = z.output<typeof clusterSettings>;
