import type { ArtifactStore } from '../../storage/artifacts.ts';
import type { AuditLog } from '../audit.ts';
import type { ClientKeys } from '../client-keys/client-keys.ts';
import type { ResourceRegistry } from '../resources.ts';
import type { AccountSources } from './account-of-identity.ts';
import type { TrustedIssuer } from './trusted-issuer.ts';

/** What the grant for assertions works with. */
export interface JwtBearerOptions extends AccountSources {
  /** Our issuer. */
  issuer: string;
  trustedIssuers: readonly TrustedIssuer[];
  /** Key sets of issuers. */
  keys: ClientKeys;
  artifacts: Pick<ArtifactStore, 'find'>;
  resources: ResourceRegistry;
  /** Life of an access token where its resource says nothing, in seconds. */
  accessTokenSeconds: number;
  audit: AuditLog;
}
