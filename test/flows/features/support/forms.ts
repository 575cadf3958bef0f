import type { GatehouseOptions } from '../../../../src/index.ts';
import { createServerV1 } from './server-v1.ts';
import { createServerV2 } from './server-v2.ts';
import type { Memory } from './tools.ts';

/** How the server of the features is brought. */
export interface ServerForm {
  name: string;
  /** Version of the SDK it is made with. */
  sdk: 'v1' | 'v2';
  /** Gives it as `createGatehouse` takes it. */
  bring(memory: Memory): NonNullable<GatehouseOptions['server']>;
}

/** Each version of the SDK, with a server for each session or request, and with one for all. */
export const serverForms: readonly ServerForm[] = [
  { name: 'a v2 server each', sdk: 'v2', bring: (memory) => () => createServerV2(memory) },
  {
    name: 'a shared v2 server',
    sdk: 'v2',
    bring: (memory) => ({ create: () => createServerV2(memory), sharing: 'shared' }),
  },
  { name: 'a v1 server each', sdk: 'v1', bring: (memory) => () => createServerV1(memory) },
  { name: 'a single v1 server', sdk: 'v1', bring: (memory) => createServerV1(memory) },
];

/** Finds a form by its name. @throws Error where there is none */
export function formNamed(name: string | undefined): ServerForm {
  const form = serverForms.find((each) => each.name === name);
  if (!form) throw new Error(`There is no server form ${name}.`);
  return form;
}
