import type { ClientProfile } from './client-profile.ts';
import { publicClientBody, sdkV1Behaviour } from './sdk-behaviour.ts';

const version = '2026-11-22';

/** `@modelcontextprotocol/sdk`, on which most clients in TypeScript are built. */
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
