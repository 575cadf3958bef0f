import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Upstreams } from '../../upstream/upstream.ts';
import type { Vault } from '../../upstream/vault.ts';
import type { AuditLog } from '../audit.ts';
import type { WaysToLogIn } from '../authentication/ways-to-log-in.ts';
import type { ClientDocuments } from '../client-documents/client-documents.ts';
import type { Limit, Limiters } from '../limits.ts';
import type { ResourceRegistry } from '../resources.ts';
import type { BeginUpstream } from '../upstream-login/begin-upstream.ts';
import { createAccountPages } from './account-pages.ts';
import { createBrowserLogins } from './browser-logins.ts';
import { createClientSummaries, createConnectedApps, type McpConnections } from './connected-apps.ts';
import { type CredentialForms, createOwnCredentials } from './credentials-page.ts';
import { createLinkedUpstreams } from './linked-upstreams.ts';
import type { OwnSessions } from './own-session.ts';

/** Parts of the account pages. */
export interface AccountServerOptions {
  issuer: string;
  provider: Provider;
  storage: Storage;
  box: SealedBox;
  resources: ResourceRegistry;
  documents: Pick<ClientDocuments, 'recall'> | undefined;
  /** The login of the browser that asks. */
  sessions: OwnSessions;
  waysToLogIn: WaysToLogIn;
  mcpConnections: McpConnections;
  /** Cookie keys of the installation. */
  cookieKeys: readonly string[];
  upstreams: Upstreams;
  vault: Vault;
  beginUpstream: BeginUpstream;
  /** Credentials for MCP servers behind the gateway that users may enter. */
  credentialForms: CredentialForms;
  limits: { codes: Limit; resets: Limit };
  limiters: Limiters;
  audit: AuditLog;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Puts the account pages together.
 * @returns serves a path below `/account`, given without its first slash
 */
export function createAccountServer(
  options: AccountServerOptions,
): (ctx: Context, path: string) => Promise<void> {
  const { issuer, provider, storage, sessions, box, resources, waysToLogIn, mcpConnections, audit, now } =
    options;
  const { upstreams, vault, beginUpstream } = options;
  const { accounts, artifacts, oneTimeCodes } = storage;
  const { hasher, login, authentication, secondFactor, passkeys, devices } = waysToLogIn;
  const { hostname } = new URL(issuer);
  const describeClient = createClientSummaries(provider, options.documents);
  const browsers = createBrowserLogins(storage, box, now);
  const apps = createConnectedApps({ artifacts, box, resources, describeClient, mcpConnections, now });
  const linked = createLinkedUpstreams({ upstreams, vault, storage });
  const credentials = createOwnCredentials({
    forms: options.credentialForms,
    store: storage.backendCredentials,
    box,
    now,
  });
  const { ofGuesses } = options.limiters;
  const wrongLinks = ofGuesses('reset links of address', options.limits.resets);
  const wrongCodes = ofGuesses('new codes of account', options.limits.codes);

  return createAccountPages({
    artifacts,
    sessions,
    login: { upstreams, beginUpstream, authentication, passkeys, devices, sessions, audit, now },
    overview: {
      apps,
      browsers,
      mcpConnections,
      describeClient,
      passkeys: storage.passkeys,
      oneTimeCodes,
      linked,
      credentials,
      audit,
    },
    activity: { apps, calls: storage.calls, now },
    password: { accounts, hasher, login, devices, sessions, audit },
    reset: { accounts, artifacts, box, hasher, wrongLinks, audit, now },
    passkeys: { passkeys, store: storage.passkeys, linked, audit },
    codes: { secondFactor, box, wrongCodes, audit, host: hostname, now },
    upstreams: { upstreams, vault, links: storage.upstreams, linked, beginUpstream, audit },
    credentials: { credentials, audit },
    url: `${issuer}/account`,
    csrfKeys: options.cookieKeys,
    now,
  });
}
