import { type ClientProfile, publicClientBody, recordedOf, sdkV1Behaviour } from './client-profile.ts';
import { recordedRegistrations } from './recorded-registrations.ts';

const version = '2026-11-22';

/** MCP Inspector, connected directly from its page. */
export const inspector: ClientProfile = {
  ...sdkV1Behaviour,
  name: 'inspector',
  title: 'MCP Inspector (direct)',
  version,
  observed: '1.x, main',
  runsOn: 'page',
  registration: ['dynamic'],
  registrationBody: {
    ...publicClientBody,
    client_uri: 'https://github.com/modelcontextprotocol/inspector',
    redirect_uris: ['http://localhost:6274/oauth/callback', 'http://localhost:6274/oauth/callback/debug'],
  },
  redirectUri: 'http://localhost:6274/oauth/callback',
  facts: [
    {
      says: 'registers two callbacks of its page, as a public client, with the TypeScript SDK v1',
      grounds: 'source',
      from: 'https://github.com/modelcontextprotocol/inspector/blob/006abfb83ae6d2a8f1361a039f41d54429966a88/client/src/lib/auth.ts',
    },
    {
      says: 'a page reads only what CORS lets it read',
      grounds: 'report',
      from: 'https://github.com/modelcontextprotocol/inspector/issues/817',
    },
  ],
};

/** mcp-remote, the bridge for hosts that speak stdio only. */
export const mcpRemote: ClientProfile = {
  ...sdkV1Behaviour,
  ...recordedRegistrations['mcp-remote'],
  name: 'mcp-remote',
  title: 'mcp-remote',
  runsOn: 'machine',
  registration: ['dynamic'],
  redirectUri: 'http://localhost:53683/oauth/callback',
  registersAgain: 'after_preflight',
  needs: ['repeatedRefresh', 'unaskedRefreshToken', 'localhostPort'],
  facts: [
    recordedOf('mcp-remote'),
    {
      says: 'takes another port where its own is taken, and keeps its registration',
      grounds: 'report',
      from: 'https://github.com/punkpeye/mcp-remote/issues/72',
    },
    {
      says: 'asks the authorization URL for JSON before it opens a browser, and registers anew on invalid_client',
      grounds: 'documentation',
      from: 'https://www.npmjs.com/package/mcp-remote/v/0.15.1',
    },
    {
      says: 'one loopback redirect URI with a port; none as its method where the server lists it or lists nothing',
      grounds: 'source',
      from: 'https://github.com/punkpeye/mcp-remote/blob/12bab623ec787c6813c0b15c7ac18c00c6cfa168/src/lib/node-oauth-client-provider.ts',
    },
    {
      says: 'discovery, resource, issuer and PKCE as the TypeScript SDK v1, on which it is built',
      grounds: 'inferred',
      from: 'https://github.com/punkpeye/mcp-remote',
    },
  ],
};

/** Gemini CLI. */
export const geminiCli: ClientProfile = {
  ...recordedRegistrations['gemini-cli'],
  name: 'gemini-cli',
  title: 'Gemini CLI',
  runsOn: 'machine',
  resourcePlaces: ['by the challenge', 'with the path', 'at the root'],
  challengeDecides: false,
  resource: 'exact',
  issuer: 'unchecked',
  issuerAtRoot: true,
  withoutMetadata: 'stops',
  pkce: 'unread',
  registration: ['dynamic'],
  registrationBody: { ...recordedRegistrations['gemini-cli'].registrationBody, scope: '' },
  resourceSpellings: ['published'],
  asksScopesOf: 'challenge',
  registersAgain: 'by_hand',
  needs: ['repeatedRefresh', 'unaskedRefreshToken'],
  facts: [
    recordedOf('@google/gemini-cli'),
    {
      says: 'compares resource byte for byte with scheme, host and path of the URL',
      grounds: 'source',
      from: 'https://github.com/google-gemini/gemini-cli/blob/04fbf50725b94cef0a8f37be6436bd0a84dafc9b/packages/core/src/mcp/oauth-utils.ts',
    },
    {
      says: 'looks for metadata of an issuer with a path at the root as well; compares no issuer',
      grounds: 'source',
      from: 'https://github.com/google-gemini/gemini-cli/blob/04fbf50725b94cef0a8f37be6436bd0a84dafc9b/packages/core/src/mcp/oauth-utils.ts',
    },
    {
      says: 'registers with an empty scope if it knows none',
      grounds: 'source',
      from: 'https://github.com/google-gemini/gemini-cli/blob/0467592364ba09be2aa9391e4d9fe27a913f3fa3/packages/core/src/mcp/oauth-provider.ts',
    },
  ],
};

/** GitHub Copilot CLI. */
export const copilotCli: ClientProfile = {
  ...sdkV1Behaviour,
  ...recordedRegistrations['copilot-cli'],
  name: 'copilot-cli',
  title: 'GitHub Copilot CLI',
  runsOn: 'machine',
  issuer: 'exact',
  registration: ['dynamic'],
  redirectUri: 'http://127.0.0.1:53683/',
  needs: ['repeatedRefresh', 'unaskedRefreshToken', 'applicationType'],
  facts: [
    recordedOf('@github/copilot'),
    {
      says: 'compares the issuer strictly: a slash stops it',
      grounds: 'report',
      from: 'https://github.com/github/copilot-cli/issues/4606',
    },
    {
      says: 'redirect URI http://127.0.0.1:<any port>/',
      grounds: 'report',
      from: 'https://github.com/github/copilot-cli/issues/4901',
    },
    {
      says: 'discovery, resource and PKCE as the TypeScript SDK v1 does them',
      grounds: 'inferred',
      from: 'https://www.npmjs.com/package/@modelcontextprotocol/sdk',
    },
  ],
};

/** `@modelcontextprotocol/sdk`, the basis of most clients in TypeScript. */
export const sdkV1: ClientProfile = {
  ...sdkV1Behaviour,
  name: 'sdk-v1',
  title: 'TypeScript SDK v1',
  version,
  observed: '1.32.2',
  runsOn: 'machine',
  registration: ['dynamic'],
  registrationBody: {
    ...publicClientBody,
    redirect_uris: ['http://localhost:8090/callback'],
  },
  redirectUri: 'http://localhost:8090/callback',
  facts: [
    {
      says: 'asks the place the challenge names and no other; else with the path, then the root; where it finds nothing, it takes the origin for the authorization server, and its default endpoints',
      grounds: 'source',
      from: 'https://www.npmjs.com/package/@modelcontextprotocol/sdk/v/1.32.2 dist/esm/client/auth.js discoverMetadataWithFallback',
    },
    {
      says: 'takes a resource that is the URL or above it; does not compare the issuer; refuses PKCE methods without S256, not their absence',
      grounds: 'source',
      from: 'https://www.npmjs.com/package/@modelcontextprotocol/sdk/v/1.32.2 dist/esm/client/auth.js',
    },
  ],
};

/** `@modelcontextprotocol/client`. */
export const sdkV2: ClientProfile = {
  ...sdkV1,
  name: 'sdk-v2',
  title: 'TypeScript SDK v2',
  observed: '2.4.0',
  issuer: 'exact_or_slash',
  registrationBody: {
    ...sdkV1.registrationBody,
    application_type: 'native',
  },
  facts: [
    {
      says: 'compares the issuer byte for byte, but forgives a slash at the end of the one asked for',
      grounds: 'source',
      from: 'https://www.npmjs.com/package/@modelcontextprotocol/client/v/2.4.0 dist, IssuerMismatchError',
    },
    {
      says: 'derives application_type from the redirect URIs (SEP-837)',
      grounds: 'source',
      from: 'https://www.npmjs.com/package/@modelcontextprotocol/client/v/2.4.0 dist, deriveApplicationType',
    },
  ],
};

/** The Python SDK. */
export const pythonSdk: ClientProfile = {
  ...sdkV1,
  name: 'python-sdk',
  title: 'Python SDK',
  observed: 'main, August 2026',
  challengeDecides: false,
  issuer: 'exact',
  pkce: 'unread',
  registrationBody: {
    ...publicClientBody,
    redirect_uris: ['http://localhost:3030/callback'],
  },
  redirectUri: 'http://localhost:3030/callback',
  facts: [
    {
      says: 'asks the place of the challenge, then with the path, then the root, until one holds a document',
      grounds: 'source',
      from: 'https://github.com/modelcontextprotocol/python-sdk/blob/0567b485c0189f5a9a34debcb9bf2c2db219e546/src/mcp/client/auth/utils.py',
    },
    {
      says: 'compares the issuer as a string; never reads code_challenge_methods_supported',
      grounds: 'source',
      from: 'https://github.com/modelcontextprotocol/python-sdk/blob/0567b485c0189f5a9a34debcb9bf2c2db219e546/src/mcp/client/auth/utils.py',
    },
    {
      says: 'what it asks for in a login, and when it registers anew, as the TypeScript SDK v1 does it',
      grounds: 'inferred',
      from: 'https://github.com/modelcontextprotocol/python-sdk',
    },
    {
      says: 'normalises URLs of metadata, so that an issuer without a path gains a slash in some versions',
      grounds: 'report',
      from: 'https://github.com/modelcontextprotocol/python-sdk/issues/1919',
    },
  ],
};

/** mcporter, which calls tools of MCP servers from a command line. */
export const mcporter: ClientProfile = {
  ...sdkV1Behaviour,
  ...recordedRegistrations.mcporter,
  name: 'mcporter',
  title: 'mcporter',
  runsOn: 'machine',
  registration: ['dynamic'],
  registrationBody: { ...recordedRegistrations.mcporter.registrationBody, scope: '' },
  registersAgain: 'each_time',
  needs: ['repeatedRefresh', 'unaskedRefreshToken'],
  facts: [
    {
      says: 'registers anew when its port has changed, at each login and each expired token: it cannot refresh then, and leaves a registration and a grant behind',
      grounds: 'report',
      from: 'https://www.npmjs.com/package/mcporter/v/0.12.3',
    },
    recordedOf('mcporter'),
    {
      says: 'discovery, resource, issuer and PKCE as the TypeScript SDK v1, on which it is built',
      grounds: 'inferred',
      from: 'https://www.npmjs.com/package/mcporter/v/0.12.3',
    },
  ],
};
