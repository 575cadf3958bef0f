import { type ClientProfile, publicClientBody, sdkV1Behaviour } from './client-profile.ts';

const version = '2026-11-22';

/** Cursor. */
export const cursor: ClientProfile = {
  ...sdkV1Behaviour,
  name: 'cursor',
  title: 'Cursor',
  version,
  observed: '3.14',
  runsOn: 'machine',
  registration: ['dynamic'],
  registrationBody: {
    ...publicClientBody,
    redirect_uris: [
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'https://www.cursor.com/agents/mcp/oauth/callback',
      'http://localhost:8787/callback',
    ],
  },
  redirectUri: 'http://localhost:8787/callback',
  needs: ['repeatedRefresh', 'unaskedRefreshToken', 'applicationType'],
  facts: [
    {
      says: 'registers three redirect URIs at once, of three kinds: refusing one refuses all',
      grounds: 'report',
      from: 'https://github.com/erp-mafia/accounted/issues/2225',
    },
    {
      says: 'discovery, resource, issuer and PKCE as the TypeScript SDK v1 does them',
      grounds: 'inferred',
      from: 'https://www.npmjs.com/package/@modelcontextprotocol/sdk',
    },
  ],
};

const vscodeSource =
  'https://github.com/microsoft/vscode/blob/05f882b02c51633f2e1e8252722f8c3b626d74a9/src/vs/base/common/oauth.ts';

/** Visual Studio Code with its own MCP client. */
export const vscode: ClientProfile = {
  name: 'vscode',
  title: 'VS Code',
  version,
  observed: 'main, 2026',
  runsOn: 'machine',
  resourcePlaces: ['by the challenge', 'with the path', 'at the root'],
  challengeDecides: true,
  resource: 'url',
  issuer: 'unchecked',
  issuerAtRoot: false,
  withoutMetadata: 'default_endpoints',
  pkce: 'unread',
  registration: ['metadata_document', 'dynamic'],
  metadataDocument: { url: 'https://vscode.dev/oauth/client-metadata.json', needsNone: false },
  registrationBody: {
    ...publicClientBody,
    client_uri: 'https://code.visualstudio.com',
    redirect_uris: [
      'https://insiders.vscode.dev/redirect',
      'https://vscode.dev/redirect',
      'http://127.0.0.1/',
      'http://127.0.0.1:33418/',
    ],
    application_type: 'native',
  },
  redirectUri: 'http://127.0.0.1:53682/',
  resourceSpellings: ['published'],
  asksScopesOf: 'challenge',
  registersAgain: 'by_hand',
  needs: ['repeatedRefresh', 'unaskedRefreshToken'],
  facts: [
    {
      says: 'does not get over a client id that is gone',
      grounds: 'report',
      from: 'https://github.com/microsoft/vscode/issues/250960',
    },
    {
      says: 'compares resource as parsed URLs: a slash or a path more or less is refused',
      grounds: 'source',
      from: `${vscodeSource} fetchResourceMetadata`,
    },
    {
      says: 'takes /authorize, /token and /register where there is no metadata',
      grounds: 'source',
      from: `${vscodeSource} getDefaultMetadataForUrl`,
    },
    {
      says: 'registers https and loopback redirect URIs together, with application_type native',
      grounds: 'source',
      from: `${vscodeSource} fetchDynamicRegistration`,
    },
    {
      says: 'takes any port of loopback where 33418 is taken',
      grounds: 'report',
      from: 'https://github.com/microsoft/vscode/issues/278512',
    },
    {
      says: 'prefers its client ID metadata document where the server takes one',
      grounds: 'report',
      from: 'https://github.com/github/copilot-cli/issues/4901',
    },
    {
      says: 'reads neither the issuer nor code_challenge_methods_supported to refuse them',
      grounds: 'inferred',
      from: vscodeSource,
    },
  ],
};
