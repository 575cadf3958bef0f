import { type ClientProfile, publicClientBody, recordedOf, sdkV1Behaviour } from './client-profile.ts';
import { recordedRegistrations } from './recorded-registrations.ts';

const version = '2026-11-22';

/** ChatGPT with connectors and apps. */
export const chatgpt: ClientProfile = {
  ...sdkV1Behaviour,
  name: 'chatgpt',
  title: 'ChatGPT',
  version,
  observed: 'unknown',
  runsOn: 'cloud',
  pkce: 'must_list',
  registration: ['dynamic'],
  registrationBody: {
    ...publicClientBody,
    redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
  },
  redirectUri: 'https://chatgpt.com/connector_platform_oauth_redirect',
  document: {
    ...publicClientBody,
    client_name: 'ChatGPT',
    redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
  },
  needs: ['repeatedRefresh', 'unaskedRefreshToken', 'authMethodChoices'],
  facts: [
    {
      says: 'gets no refresh token unless one is issued without offline_access being asked for',
      grounds: 'report',
      from: 'https://github.com/usenotra/notra/pull/498',
    },
    {
      says: 'refuses to go on where code_challenge_methods_supported lacks S256 or is absent; takes metadata documents, dynamic registration and given clients',
      grounds: 'documentation',
      from: 'https://developers.openai.com/apps-sdk/build/auth',
    },
    {
      says: 'its metadata document says private_key_jwt with a list of choices; it is tried with dynamic registration here',
      grounds: 'report',
      from: 'https://github.com/cloudflare/workers-oauth-provider/pull/302',
    },
    {
      says: 'the order of discovery, and how resource and issuer are compared',
      grounds: 'inferred',
      from: 'https://www.npmjs.com/package/@modelcontextprotocol/sdk',
    },
  ],
};

/** Codex, on the Rust SDK. */
export const codex: ClientProfile = {
  ...sdkV1Behaviour,
  ...recordedRegistrations.codex,
  name: 'codex',
  title: 'Codex',
  runsOn: 'machine',
  challengeDecides: false,
  issuer: 'exact',
  registration: ['dynamic'],
  asksScopesOf: 'nobody',
  registersAgain: 'by_hand',
  needs: ['repeatedRefresh', 'unaskedRefreshToken', 'missingScope'],
  facts: [
    {
      says: 'takes no scopes from the challenge',
      grounds: 'report',
      from: 'https://github.com/openai/codex/issues/15643',
    },
    {
      says: 'an older session sends the refresh token before the present one',
      grounds: 'report',
      from: 'https://github.com/openai/codex/issues/17265',
    },
    {
      says: 'goes on with a client id that is gone',
      grounds: 'report',
      from: 'https://github.com/openai/codex/issues/29630',
    },
    recordedOf('@openai/codex'),
    {
      says: 'compares the issuer strictly: a slash stops it',
      grounds: 'report',
      from: 'https://github.com/openai/codex/issues/37373',
    },
    {
      says: 'uses a metadata document of its own where the server takes one and lists none; its URL changes, so it is tried with dynamic registration here',
      grounds: 'report',
      from: 'https://github.com/anomalyco/opencode/pull/47743',
    },
    {
      says: 'the order of discovery, and how resource and PKCE are judged',
      grounds: 'inferred',
      from: 'https://github.com/modelcontextprotocol/rust-sdk',
    },
  ],
};
