import type { Credential, MachineLogin } from '../stores/credential-store.ts';

/** @returns whose login a credential is, where it is a machine's; undefined for a person's */
export function machineOf({ clientId, grant, workload }: Credential): MachineLogin | undefined {
  if (workload) return { grant: 'workload_identity', clientId, proof: 'assertion' };
  return grant && { grant: grant.type, clientId, proof: grant.privateKey === undefined ? 'secret' : 'key' };
}
