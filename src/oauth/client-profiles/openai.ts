import { type ClientProfile, publicClientBody, sdkV1Behaviour } from './client-profile.ts';

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

const codexSource =
  'https://github.com/openai/codex/blob/18b3cfcb60746d54e5d90bb105d363d7ace1d254/codex-rs/rmcp-client/src/perform_oauth_login.rs';

/** Codex, on the Rust SDK. */
export const codex: ClientProfile = {
  ...sdkV1Behaviour,
  name: 'codex',
  title: 'Codex',
  version,
  observed: '0.147',
  runsOn: 'machine',
  challengeDecides: false,
  issuer: 'exact',
  registration: ['dynamic'],
  registrationBody: {
    ...publicClientBody,
    redirect_uris: ['http://127.0.0.1:37819/callback/gatehouse-doctor'],
    application_type: 'native',
  },
  redirectUri: 'http://127.0.0.1:37819/callback/gatehouse-doctor',
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
    {
      says: 'registers as Codex, with http://127.0.0.1:<any port>/callback/<id of the server>',
      grounds: 'source',
      from: codexSource,
    },
    {
      says: 'application_type native',
      grounds: 'report',
      from: 'https://github.com/elmohq/elmo/pull/684',
    },
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
