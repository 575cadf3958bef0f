import type { AuthorizationServerOptions } from '../authorization-server/index.ts';
import type { Settings } from '../options.ts';

/**
 * The limits of the authorization server, by what it calls them.
 * @param limits as they were set, with defaults filled in
 */
export function composeLimits(limits: Settings['limits']): AuthorizationServerOptions['limits'] {
  const { registrations, authorizations, deviceCodes, tokenFailures, tokensPerGrant, requests } = limits;
  const { sharedAddresses } = limits;
  return {
    codes: limits.codesPerAccount,
    resets: limits.passwordResetsPerAddress,
    registrations,
    authorizations,
    deviceCodes,
    tokenFailures,
    tokensPerGrant,
    requests,
    sharedAddresses,
    documents: {
      perAddress: limits.metadataDocuments,
      sharedAddresses,
      perTarget: limits.metadataDocumentsPerHost,
    },
    logins: {
      perAddress: limits.loginsPerAddress,
      perAccountAndAddress: limits.loginsPerAccountAndAddress,
      perAccount: limits.loginsPerAccount,
    },
  };
}
