import type { Credential } from '../stores/credential-store.ts';

/** A login of a machine as itself: what it takes to log it in again. */
export interface MachineLogin {
  grant: 'client_credentials' | 'workload_identity';
  clientId: string;
  /** What it authenticated by. */
  proof: 'secret' | 'key' | 'assertion';
}

/** @returns whose login a credential is, where it is a machine's; undefined for a person's */
export function machineOf(credential: Credential | undefined): MachineLogin | undefined {
  if (credential === undefined) return undefined;
  const { clientId, grant, workload } = credential;
  if (workload) return { grant: 'workload_identity', clientId, proof: 'assertion' };
  return grant && { grant: grant.type, clientId, proof: grant.privateKey === undefined ? 'secret' : 'key' };
}
